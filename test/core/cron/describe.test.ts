import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/core/cron/calendar.ts'
import { cron } from '../../../src/core/cron/cron.ts'
import { parse } from '../../../src/core/cron/parse.ts'
import { expressions } from './arbitraries.ts'

/** Everything that decides when an expression fires; two expressions with equal traits fire alike. */
function traits(expression: string): string {
  const { daysByShape, ...calendar } = compile(parse(expression))
  return JSON.stringify({ ...calendar, days: [...daysByShape] })
}

describe('the words for an expression', () => {
  it.each([
    ['0 9 * * 1-5', 'At 09:00, Monday to Friday (Europe/Paris)'],
    ['0 9 * * *', 'At 09:00, every day (Europe/Paris)'],
    ['30 9,12,17 * * *', 'At 09:30, 12:30 and 17:30, every day (Europe/Paris)'],
    ['15 10 9 * * *', 'At 09:10:15, every day (Europe/Paris)'],
    ['* * * * *', 'Every minute (Europe/Paris)'],
    ['* * * * * *', 'Every second (Europe/Paris)'],
    ['*/5 * * * *', 'Every 5 minutes (Europe/Paris)'],
    ['*/10 * * * * *', 'Every 10 seconds (Europe/Paris)'],
    ['*/7 * * * *', 'At every 7th minute from 0 to 56 of every hour (Europe/Paris)'],
    ['@hourly', 'Every hour (Europe/Paris)'],
    ['0 */2 * * *', 'Every 2 hours (Europe/Paris)'],
    ['0 */5 * * *', 'At minute 0, during each 5th hour from 0 to 20 (Europe/Paris)'],
    ['30 * * * *', 'At minute 30 of every hour (Europe/Paris)'],
    ['*/5 9-17 * * MON-FRI', 'Every 5 minutes, during hours 9 to 17, Monday to Friday (Europe/Paris)'],
    ['30 */5 * * * *', 'At second 30, during every 5th minute from 0 to 55 of every hour (Europe/Paris)'],
    ['0 0 1,15 * FRI', 'At 00:00, on the 1st and 15th of the month, or on Friday (Europe/Paris)'],
    ['0 0 L * *', 'At 00:00, on the last day of the month (Europe/Paris)'],
    [
      '0 0 L-3,15W * *',
      'At 00:00, on the weekday nearest the 15th and the day 3 days before the last of the month (Europe/Paris)',
    ],
    ['0 0 LW 3-5 *', 'At 00:00, on the last weekday of the month, in March to May (Europe/Paris)'],
    ['0 9 * * MON#2', 'At 09:00, the 2nd Monday of the month (Europe/Paris)'],
    ['0 9 * * FRIL', 'At 09:00, the last Friday of the month (Europe/Paris)'],
    ['0 0 * * 5-7', 'At 00:00, Friday to Sunday (Europe/Paris)'],
    ['0 0 */2 * *', 'At 00:00, on every 2nd day from the 1st to the 31st of the month (Europe/Paris)'],
    [
      '0 0 11-13,21,22,23 JAN,DEC *',
      'At 00:00, on the 11th to 13th and 21st to 23rd of the month, in January and December (Europe/Paris)',
    ],
    ['0 0 30 2 *', 'At 00:00, on the 30th of the month, in February, which never happens (Europe/Paris)'],
  ])('%s', (expression, words) => {
    expect(cron(expression, 'Europe/Paris').describe()).toBe(words)
  })

  it('are never the same for two expressions that fire differently', () => {
    const meanings = new Map<string, { expression: string; traits: string }>()
    const remember = (expression: string): void => {
      const words = cron(expression, 'UTC').describe()
      const meaning = { expression, traits: traits(expression) }
      const earlier = meanings.get(words)
      if (earlier) expect(meaning.traits, `${expression} and ${earlier.expression}: ${words}`).toBe(earlier.traits)
      meanings.set(words, meaning)
    }
    for (const hour of [
      '*',
      '0',
      '*/24',
      '0,12',
      '*/12',
      '0-23',
      '*/1',
      '*/8',
      '0,8,16',
      '*/24,1',
      '0-1',
      '1-3',
      '1,2,3',
    ]) {
      for (const minute of ['0', '*', '*/5', '*/7', '0,30', '30', '0-59', '5-7', '0-58', '1-59']) {
        for (const second of ['', '0 ', '30 ', '* ', '*/5 ', '*/7 ']) remember(`${second}${minute} ${hour} * * *`)
      }
    }
    fc.assert(fc.property(expressions, remember), { numRuns: 5_000 })
  })
})
