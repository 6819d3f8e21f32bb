import { formatId } from '../../core/id.ts'
import { admit } from '../runs/admit.ts'
import { arrivalOf } from '../runs/enqueue.ts'
import { writeRuns } from '../runs/run-row.ts'
import { clockNow, freshIds, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { askForWork, runOf, type Work, workOf } from './occurrence-run.ts'
import { lockNamedSchedule } from './schedule-row.ts'

export type TestAnswer = { readonly answer: 'created'; readonly id: string } | { readonly answer: 'not-found' }

/**
 * Makes a test run of a schedule's target, now. The run belongs to no schedule and only names the schedule among its options. So it
 * starts although the schedule is paused or has a live run; its end moves no schedule, counts as no failure, and is ignored by rules
 * and planners.
 */
export function* testSchedule(context: StoreContext, name: string): Step<TestAnswer> {
  const schedule = yield* lockNamedSchedule(context, name)
  if (schedule === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  const work = (yield* workOf(context, [schedule], yield* askForWork([schedule]))).get(schedule.id) as Work
  const [id] = (yield* freshIds(1)) as [number]
  const none = { occurrenceAt: null, notBefore: null, lateAfter: null, waitsFor: null, decision: null }
  const run = runOf(schedule, work, now, { id, dueAt: now, source: 'test', ...none })
  const options = JSON.stringify({ ...schedule.spec.options, maxAttempts: 1, testOf: name })
  const row = { ...run, scheduleId: null, onExhausted: 'fail' as const, options }
  yield* writeRuns([row], { context, now, over: 'refused' })
  yield* admit(now, [{ ...arrivalOf(row), kept: null, keyLimit: work.queue.policy?.maxConcurrentPerKey ?? null }])
  return { answer: 'created', id: formatId('run', id) }
}
testSchedule.audits = (answer: TestAnswer) => (answer.answer === 'created' ? { detail: { run: answer.id } } : null)
