import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cron } from '../../../src/core/cron/cron.ts'
import { CronError } from '../../../src/core/cron/cron-error.ts'

function refusal(expression: string, zone = 'UTC'): CronError {
  try {
    cron(expression, zone)
  } catch (error) {
    if (error instanceof CronError) return error
    throw error
  }
  throw new Error(`${JSON.stringify(expression)} in ${JSON.stringify(zone)} was accepted`)
}

/** Expression, field, position, what the reason says, what the suggestion says. */
type Refused = [string, string, number, string, string]

const REFUSED: Refused[] = [
  ['', 'expression', 0, 'empty', 'five fields'],
  ['   ', 'expression', 3, 'empty', 'five fields'],
  ['*', 'expression', 1, 'only 1 field', 'minute hour day-of-month month day-of-week'],
  ['* * * *', 'expression', 7, 'only 4 fields', 'five fields'],
  ['0 0 * * * * 2026', 'expression', 12, '7 fields', 'no field for years'],
  ['0 0 * * * * 2026 *', 'expression', 12, '8 fields', 'no field for years'],
  ['* * * * *\0', 'expression', 9, 'U+0000', 'letters, digits'],
  ['* * * * *\n', 'expression', 9, 'U+000A', 'spaces between'],
  ['*\u00a0* * * *', 'expression', 1, 'U+00A0', 'spaces between'],
  ['* * * * 🍀', 'expression', 8, 'U+1F340', 'letters, digits'],
  [`${'0,'.repeat(600)}0 * * * *`, 'expression', 1_000, '1209 characters', 'ranges and steps'],
  ['@every 5m', 'expression', 0, 'interval', '`every`'],
  [' @every 5m', 'expression', 1, 'interval', '`every`'],
  ['@reboot', 'expression', 0, 'no instant', '@daily'],
  ['@weekley', 'expression', 0, 'not a known shorthand', 'Did you mean @weekly?'],
  ['@', 'expression', 0, 'not a known shorthand', '@hourly'],
  ['@daily @hourly', 'expression', 0, 'not a known shorthand', '@yearly'],
  ['60 * * * *', 'minute', 0, '60 is above the highest value, 59', '0 to 59'],
  ['* 24 * * *', 'hour', 2, '24 is above the highest value, 23', '0 to 23'],
  ['* * 0 * *', 'day-of-month', 4, '0 is below the lowest value, 1', '1 to 31'],
  ['* * 32 * *', 'day-of-month', 4, '32 is above', '1 to 31'],
  ['* * * 13 *', 'month', 6, '13 is above', '1 to 12 or a name from JAN to DEC'],
  ['* * * 0 *', 'month', 6, '0 is below', '1 to 12'],
  ['* * * * 8', 'day-of-week', 8, '8 is above', '0 to 7 or a name from SUN to SAT'],
  ['60 * * * * *', 'second', 0, '60 is above', '0 to 59'],
  ['0 60 * * * *', 'minute', 2, '60 is above', '0 to 59'],
  ['005 * * * *', 'minute', 0, 'needless zeros', 'Write 5'],
  ['1- * * * *', 'minute', 2, 'no last value', '0-4'],
  ['-5 * * * *', 'minute', 0, 'no first value', 'first-last'],
  ['- * * * *', 'minute', 0, 'no first value', 'first-last'],
  ['1-2-3 * * * *', 'minute', 3, 'two ends', '1-5'],
  ['10-5 * * * *', 'minute', 0, 'runs backwards', 'Write 10-59,0-5'],
  ['0 22-2 * * *', 'hour', 2, 'runs backwards', 'Write 22-23,0-2'],
  ['0 22-2/2 * * *', 'hour', 2, 'runs backwards', 'Write 22,0,2'],
  ['0 0 * NOV-FEB *', 'month', 6, 'runs backwards', 'Write NOV-DEC,JAN-FEB'],
  ['0 0 * * FRI-MON', 'day-of-week', 8, 'runs backwards', 'Write FRI-SAT,SUN-MON'],
  ['0 0 * * 7-2', 'day-of-week', 8, 'runs backwards', 'Write SUN-TUE'],
  ['*/0 * * * *', 'minute', 2, 'never moves', '1 to 60'],
  ['*/61 * * * *', 'minute', 2, 'longer than the 60 values', '`every`'],
  ['0 */25 * * *', 'hour', 4, 'longer than the 24 values', '1 to 24'],
  ['5/ * * * *', 'minute', 2, 'is missing', '1 to 60'],
  ['*/ * * * *', 'minute', 2, 'is missing', '1 to 60'],
  ['*/x * * * *', 'minute', 2, '"x" is not a whole number', '1 to 60'],
  ['*/1.5 * * * *', 'minute', 2, 'not a whole number', '1 to 60'],
  ['*/-5 * * * *', 'minute', 2, 'not a whole number', '1 to 60'],
  ['5/10 * * * *', 'minute', 1, 'needs a range', 'Write 5-59/10, or 5 alone'],
  ['*/5/2 * * * *', 'minute', 3, 'second step', 'one step'],
  ['/5 * * * *', 'minute', 0, 'a value is missing', '0 to 59'],
  [', * * * *', 'minute', 0, 'comma', 'each side'],
  ['1,,2 * * * *', 'minute', 2, 'comma', 'remove the comma'],
  ['1, * * * *', 'minute', 2, 'comma', 'each side'],
  ['** * * * *', 'minute', 0, 'stands alone', '*/5'],
  ['*-5 * * * *', 'minute', 0, 'stands alone', '*/5'],
  ['1.5 * * * *', 'minute', 0, '"1.5" is not a number', '0 to 59'],
  ['1e1 * * * *', 'minute', 0, '"1e1" is not a number', '0 to 59'],
  ['+5 * * * *', 'minute', 0, '"+5" is not a number', '0 to 59'],
  ['0x5 * * * *', 'minute', 0, 'not a number', '0 to 59'],
  ['H * * * *', 'minute', 0, '"H" is not a number', '0 to 59'],
  ['MON * * * *', 'minute', 0, '"MON" is not a number', '0 to 59'],
  ['0 0 9 ? * MON', 'day-of-month', 6, 'Quartz', 'Write *'],
  ['0 9 ? * 2-6', 'day-of-month', 4, 'Quartz', '1 is Monday'],
  ['0 9 * * ?', 'day-of-week', 8, 'Quartz', 'Write *'],
  ['0 0 * JUNE *', 'month', 6, '"JUNE" is not a number or a name', 'Did you mean JUN?'],
  ['0 0 * * MONDAY', 'day-of-week', 8, '"MONDAY" is not', 'Did you mean MON?'],
  ['0 0 * * TUS', 'day-of-week', 8, '"TUS" is not', 'Did you mean TUE?'],
  ['0 0 * * MON,TUE,XYZ', 'day-of-week', 16, '"XYZ" is not', '0 to 7'],
  ['L * * * *', 'minute', 0, 'day-of-month field', '0 to 59'],
  ['* 15W * * *', 'hour', 2, 'day-of-month field', '0 to 23'],
  ['* * 5L * *', 'day-of-month', 4, 'day-of-week field', '1 to 31'],
  ['* * MON#2 * *', 'day-of-month', 4, 'day-of-week field', '15W'],
  ['0 0 L-31 * *', 'day-of-month', 6, '31 days before', 'L-30'],
  ['0 0 L-0 * *', 'day-of-month', 6, '0 days before', 'L-1'],
  ['0 0 L/2 * *', 'day-of-month', 5, 'neither a range nor a step', 'Write L'],
  ['0 0 1-5W * *', 'day-of-month', 4, 'single day', '15W'],
  ['0 0 W * *', 'day-of-month', 4, 'no day before', '15W'],
  ['0 0 32W * *', 'day-of-month', 4, '32 is above', '15W'],
  ['0 0 * * L', 'day-of-week', 8, 'which weekday', '5L or FRIL'],
  ['0 0 * * 1-5L', 'day-of-week', 8, 'single weekday', '5L'],
  ['0 0 * * 9L', 'day-of-week', 8, '9 is above', '0 to 7'],
  ['0 0 * * 1-5#2', 'day-of-week', 8, 'single weekday', 'MON#2'],
  ['0 0 * * #2', 'day-of-week', 8, 'no weekday before', 'MON#2'],
  ['0 0 * * MON#', 'day-of-week', 12, 'no number after', 'MON#2'],
  ['0 0 * * MON#6', 'day-of-week', 12, '"6"', '1 to 5'],
  ['0 0 * * MON#0', 'day-of-week', 12, '"0"', '1 to 5'],
  ['0 0 * * MON#1#2', 'day-of-week', 13, 'second #', 'MON#2'],
  ['0 0 * * MUN#2', 'day-of-week', 8, '"MUN" is not', 'Did you mean'],
]

describe('a bad expression', () => {
  it.each(REFUSED)('%j is refused in its %s at %i', (expression, field, position, reason, suggestion) => {
    const error = refusal(expression)
    expect({ field: error.field, position: error.position }).toEqual({ field, position })
    expect(error.reason).toContain(reason)
    expect(error.suggestion).toContain(suggestion)
    expect(error.message).toContain(`at position ${position}: ${error.reason}. ${error.suggestion}`)
    if (field !== 'expression') expect(error.message).toContain(`in the ${field} field`)
    expect(error.message).toMatch(/[.?]$/)
    expect(error.input).toBe(expression)
  })

  it('the suggestions for a range that runs backwards are themselves accepted', () => {
    for (const [expression] of REFUSED.filter(([, , , reason]) => reason === 'runs backwards')) {
      const { suggestion } = refusal(expression)
      const wrong = expression.split(' ').find((text) => /\w-\w/.test(text)) ?? ''
      expect(() => cron(expression.replace(wrong, suggestion.replace('Write ', '')), 'UTC')).not.toThrow()
    }
  })

  it('a very long expression does not make a very long message', () => {
    expect(refusal('x'.repeat(100_000)).message.length).toBeLessThan(400)
  })

  it('a value that is not text is refused as such', () => {
    expect(refusal(5 as unknown as string).reason).toContain('text')
    expect(refusal('* * * * *', 5 as unknown as string).field).toBe('zone')
    cron('1 2 3 4 *', 'UTC')
    expect(refusal(['1 2 3 4 *'] as unknown as string).reason).toContain('text')
    expect(refusal('1 2 3 4 *', ['UTC'] as unknown as string).field).toBe('zone')
  })

  it('random text is either accepted or refused with a position inside it, never anything else', () => {
    const sign = fc.constantFrom(...'0123456789*/,-#?LW @\tAMONFRI\0é'.split(''))
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 20 }), (signs) => {
        const expression = signs.join('')
        try {
          cron(expression, 'UTC')
        } catch (error) {
          if (!(error instanceof CronError)) throw error
          expect(error.position).toBeGreaterThanOrEqual(0)
          expect(error.position).toBeLessThanOrEqual(expression.length)
        }
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('a bad zone', () => {
  it.each([
    ['', 'empty', 'UTC'],
    ['Europe/Pari', 'no zone of that name', '"Europe/Paris"'],
    ['Europe/Paris ', 'no zone of that name', '"Europe/Paris"'],
    ['Paris', 'no zone of that name', '"Europe/Paris"'],
    ['new york', 'no zone of that name', '"America/New_York"'],
    ['America/NewYork', 'no zone of that name', '"America/New_York"'],
    ['UTC\0', 'no zone of that name', '"UTC"'],
    ['Z', 'no zone of that name', 'UTC'],
    ['Mars/Olympus_Mons', 'no zone of that name', 'Europe/Paris'],
    ['+02:00', 'offset', 'Etc/GMT-2'],
    ['-05:00', 'offset', 'Etc/GMT+5'],
    ['UTC+2', 'offset', 'Etc/GMT-2'],
    ['+05:30', 'offset', 'Asia/Kolkata'],
    ['+00:00', 'offset', 'Write UTC'],
    ['IST', 'several zones', 'Asia/'],
    ['PST', 'several zones', 'America/Los_Angeles'],
  ])('%j is refused because of %s', (zone, reason, suggestion) => {
    const error = refusal('* * * * *', zone)
    expect(error.field).toBe('zone')
    expect(error.reason).toContain(reason)
    expect(error.suggestion).toContain(suggestion)
    expect(error.message).toContain('Time zone')
  })
})
