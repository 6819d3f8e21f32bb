import { expect, it } from 'vitest'
import { paintOf, type Sheet } from '../../../../src/doors/cli/sheet.ts'
import { showBackfill } from '../../../../src/doors/cli/show/backfill.ts'
import { showImported } from '../../../../src/doors/cli/show/imported.ts'

const sheet: Sheet = { now: 0, zone: 'UTC', paint: paintOf(false) }
const real = { isRehearsal: false }
const none = { queues: [], schedules: [], runs: { made: 0, parked: 0, known: 0 }, left: [], leftMore: 0 }

it('an import tells what was made, what was there, and below it everything that was left out', () => {
  const answer = {
    queues: [{ name: 'crontab', answer: 'created' as const }],
    schedules: [
      { name: 'a', from: 'line 1', answer: 'created' as const, inWords: 'Every hour.' },
      { name: 'b', from: 'line 2', answer: 'unchanged' as const, inWords: 'Every day.' },
    ],
    runs: { made: 2, parked: 1, known: 0 },
    left: [{ where: 'line 3', what: 'MAILTO=\u001b[2Jx', why: 'Belfry sends no mail' }],
    leftMore: 4,
  }
  expect(showImported(answer, sheet, real).split('\n')).toEqual([
    'imported 1 schedule (1 was there before), 2 runs, of which 1 parked, queue crontab (created)',
    '  SCHEDULE  FROM               SAYS',
    '  a         line 1  created    Every hour.',
    '  b         line 2  unchanged  Every day.',
    '5 things are other than they were, or left out:',
    '  WHERE   WHAT               WHY',
    '  line 3  MAILTO=\\u{1b}[2Jx  Belfry sends no mail',
    '  and more; --json has all that is listed',
  ])
})

it('an import of nothing says so', () => {
  expect(showImported(none, sheet, real)).toBe('imported nothing\nNothing was left out.')
})

it('a backfill without instants says so, and a long one is cut', () => {
  const empty = { schedule: 's', from: 0, to: 1, made: [], left: [] }
  expect(showBackfill(empty, sheet, real)).toBe('made 0 runs of s: it has no instant in that stretch')
  const made = Array.from({ length: 25 }, (_, index) => ({ at: index * 60_000, run: `r-${index}` }))
  const lines = showBackfill({ ...empty, made }, sheet, real).split('\n')
  expect(lines).toHaveLength(24)
  expect(lines.at(-1)).toBe('  and 5 more; --json has them all')
})
