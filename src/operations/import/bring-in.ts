import { BelfryError } from '../../core/error.ts'
import { applyChanges } from '../../store/apply.ts'
import type { Change, Changed } from '../../store/change.ts'
import type { OperationContext } from '../context.ts'
import { scheduleInWords } from '../schedule/in-words.ts'
import { definitionOf } from '../schedule/view.ts'
import type { Draft, Left } from './draft.ts'
import type { Imported } from './output.ts'

export interface BringIn {
  readonly queue: string
  /** Stands beside every schedule that is made. */
  readonly reason: string
  /** What would help where names are taken. */
  readonly hint: string
  /** Whether something may be left out. */
  readonly isPartial: boolean
}

/** More than anybody reads; the rest is counted. */
const leftMax = 1_000

/** Writes all that a draft asks for, in one step or not at all. What is there already just so stays as it is. */
export async function bringIn(context: OperationContext, draft: Draft, how: BringIn): Promise<Imported> {
  const { schedules } = draft
  const left = draft.left.filter(({ isTaken }) => isTaken !== true).map(plain)
  const different = draft.left.filter(({ isTaken }) => isTaken === true).map(plain)
  const changes = changesOf(draft, how)
  const answers = changes.length === 0 ? [] : await applied(context, changes, how)
  const states = new Map(
    answers.flatMap((changed) => (changed.kind === 'schedule' ? [[changed.name, changed.answer.answer]] : [])),
  )
  return {
    queues: answers.flatMap(queueOf),
    schedules: schedules.map(({ from, spec, pausedReason }) => {
      const answer = states.get(spec.name) === 'unchanged' ? 'unchanged' : 'created'
      const paused = answer === 'created' && pausedReason !== undefined
      return { name: spec.name, from, answer, paused, inWords: scheduleInWords(definitionOf(spec)) }
    }),
    runs: counted(answers, draft),
    ok: left.length === 0 || how.isPartial,
    left: left.slice(0, leftMax),
    leftMore: Math.max(0, left.length - leftMax),
    different: different.slice(0, leftMax),
    differentMore: Math.max(0, different.length - leftMax),
  }
}

function plain({ where, what, why }: Left): Omit<Left, 'isTaken'> {
  return { where, what, why }
}

function changesOf({ policy, schedules, runs }: Draft, { queue, reason }: BringIn): Change[] {
  return [
    ...(policy === null ? [] : [{ kind: 'queue' as const, name: queue, change: { policy } }]),
    ...schedules.map(({ spec, pausedReason }) => {
      const options = { mode: 'create' as const, reason }
      return { kind: 'schedule' as const, spec, options, ...(pausedReason !== undefined && { pausedReason }) }
    }),
    ...(runs.length === 0 ? [] : [{ kind: 'runs' as const, runs }]),
  ]
}

async function applied(
  { store, actor }: OperationContext,
  changes: readonly Change[],
  { hint }: BringIn,
): Promise<Changed[]> {
  try {
    return await store.do(applyChanges, changes, { actor })
  } catch (error) {
    if (!(error instanceof BelfryError) || error.code !== 'conflict') throw error
    const { message, details, cause } = error
    throw new BelfryError('conflict', message, { hint, cause, ...(details !== undefined && { details }) })
  }
}

function queueOf(changed: Changed): Imported['queues'][number][] {
  if (changed.kind !== 'queue' || changed.answer.answer === 'version-differs') return []
  return [{ name: changed.name, answer: changed.answer.answer }]
}

function counted(answers: readonly Changed[], { runs: drafted }: Draft): Imported['runs'] {
  const runs = answers.flatMap((changed) => (changed.kind === 'runs' ? changed.answers : []))
  const made = drafted.filter((_, index) => runs[index]?.created === true)
  const parked = made.filter(({ parkedReason }) => parkedReason !== undefined).length
  return { made: made.length, parked, known: runs.length - made.length }
}
