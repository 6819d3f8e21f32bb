import { expect, it } from 'vitest'
import { showImported } from '../../../src/parts/imports/show.ts'
import { sheetOf } from '../../doors/cli/shown.ts'

const sheet = sheetOf()
const lists = { left: [], leftMore: 0, different: [], differentMore: 0 }
const none = { queues: [], groups: [], schedules: [], runs: { made: 0, parked: 0, known: 0 }, ok: true, ...lists }

it('an import tells what was made, what was there, and below it in two lists what was left out and what is different', () => {
  const answer = {
    groups: [{ name: 'checkout', answer: 'created' as const }],
    queues: [{ name: 'crontab', answer: 'created' as const }],
    schedules: [
      { name: 'a', from: 'line 1', answer: 'created' as const, paused: true, inWords: 'Every hour.' },
      { name: 'b', from: 'line 2', answer: 'unchanged' as const, paused: false, inWords: 'Every day.' },
    ],
    runs: { made: 2, parked: 1, known: 0 },
    ok: false,
    left: [{ where: 'line 4', what: 'the line', why: 'it has six fields' }],
    leftMore: 0,
    different: [{ where: 'line 3', what: 'MAILTO=\u001b[2Jx', why: 'Belfry sends no mail' }],
    differentMore: 4,
  }
  expect(showImported(answer, sheet).split('\n')).toEqual([
    'imported 1 schedule (1 existed before), 2 runs, of which 1 parked, group checkout (created), queue crontab (created)',
    '  SCHEDULE  FROM                     SAYS',
    '  a         line 1  created, paused  Every hour.',
    '  b         line 2  unchanged        Every day.',
    'Left out (1):',
    '  WHERE   WHAT      WHY',
    '  line 4  the line  it has six fields',
    'Imported with differences (5):',
    '  WHERE   WHAT               WHY',
    '  line 3  MAILTO=\\u{1b}[2Jx  Belfry sends no mail',
    '  and more; --json shows all',
  ])
})

it('an import of nothing says so', () => {
  expect(showImported(none, sheet)).toBe('imported nothing\nNothing was left out.')
})
