import { expect, it } from 'vitest'
import type { Check, Diagnosis } from '../../../../src/operations/store/diagnosis.ts'
import { showDiagnosis } from '../../../../src/operations/store/show-diagnosis.ts'
import { sheetOf } from '../shown.ts'

const base = { at: 0, store: '/srv/belfry.db' }

const sound: Check = { check: 'schema', state: 'ok', says: 'The schema has version 1.', findings: [], more: 0 }
const workers: Check = {
  check: 'workers',
  state: 'wrong',
  says: 'No worker is alive.',
  findings: [
    { subject: 'w-11', state: 'note', says: 'Worker w was lost.', next: null, fixed: 'It is noted.' },
    { subject: 'workers', state: 'wrong', says: 'No worker is alive, but schedules are.', next: 'belfry up' },
  ],
  more: 0,
}
const queues: Check = {
  check: 'queues',
  state: 'note',
  says: '21 queues, not all of which go.',
  findings: [{ subject: 'mail', state: 'note', says: 'Queue mail is paused.', next: 'belfry queue resume mail' }],
  more: 20,
}

function shown(checks: readonly Check[], isColoured = false): string {
  const diagnosis: Diagnosis = { ...base, ok: checks.every(({ state }) => state !== 'wrong'), checks }
  return showDiagnosis(diagnosis, sheetOf({ isColoured }))
}

it('is told in words that need no colours: a line a check, what to do beneath it, and a sentence at the end', () => {
  expect(shown([sound, workers, queues])).toBe(
    [
      '/srv/belfry.db',
      '✓ ok     schema   The schema has version 1.',
      '✗ wrong  workers  No worker is alive.',
      '    Worker w was lost.',
      '      fixed: It is noted.',
      '    No worker is alive, but schedules are.',
      '      next: belfry up',
      '! note   queues   21 queues, not all of which go.',
      '    Queue mail is paused.',
      '      next: belfry queue resume mail',
      '    and 20 more',
      '',
      '1 of 3 checks found something wrong, 1 has something to note and 1 thing was fixed.',
    ].join('\n'),
  )
})

it('says so when nothing is wrong', () => {
  expect(shown([sound]).split('\n').at(-1)).toBe('Nothing is wrong.')
})

it('begins its last line with what there is to read, where nothing is wrong but something is noted or was fixed', () => {
  const last = (checks: readonly Check[], isColoured = false) => shown(checks, isColoured).split('\n').at(-1)
  expect(last([sound, queues, queues])).toBe('2 of 3 checks have something to note; nothing is wrong.')
  expect(last([sound, queues], true)).toBe('\u001b[33m1 of 2 checks has something to note; nothing is wrong.\u001b[39m')
  const mended = { ...workers, state: 'ok', findings: workers.findings.slice(0, 1) } as const
  expect(last([sound, mended])).toBe('1 thing was fixed; nothing is wrong.')
  expect(last([mended, queues])).toBe('1 of 2 checks has something to note and 1 thing was fixed; nothing is wrong.')
})

it('has colours by what is wrong, which move no column', () => {
  const text = shown([sound, workers, queues], true)
  expect(text).toContain('\u001b[32m✓ ok\u001b[39m     schema')
  expect(text).toContain('\u001b[31m✗ wrong\u001b[39m  workers')
  expect(text).toContain('\u001b[33m! note\u001b[39m   queues')
})

it('shows what others wrote as text: a name cannot colour or clear the screen of whoever reads it', () => {
  const evil = {
    ...queues,
    says: 'a\u001b[2J',
    findings: [{ ...queues.findings[0], says: 'b\u001b]0;c', next: 'd\u001b[1m' }],
  }
  expect(shown([evil as Check])).not.toContain('\u001b')
})
