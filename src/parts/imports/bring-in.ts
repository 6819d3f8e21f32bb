import { BelfryError } from '../../core/error.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { definitionOf } from '../../operations/schedule/schedule-answer.ts'
import { scheduleInWords } from '../../operations/schedule/schedule-in-words.ts'
import type { Draft, Left } from './draft.ts'
import type { Imported } from './imported.ts'
import { type DraftWritten, writeDraft } from './write-draft.ts'

export interface BringIn {
  readonly queue: string
  /** The reason recorded with every new schedule. */
  readonly reason: string
  /** The hint for names in use. */
  readonly hint: string
  /** Whether something may be left out. */
  readonly isPartial: boolean
}

/** The most items in the answer; the rest is counted. */
const leftMax = 1_000

/** Writes a draft in one step or not at all. Entries that exist with the same content stay. */
export async function bringIn(context: OperationContext, draft: Draft, how: BringIn): Promise<Imported> {
  const left = draft.left.filter(({ isTaken }) => isTaken !== true).map(plain)
  const different = draft.left.filter(({ isTaken }) => isTaken === true).map(plain)
  const written = await writtenBy(context, draft, how)
  return {
    queues: queuesOf(written, how),
    groups: [...written.groups],
    schedules: draft.schedules.map(({ from, spec, pausedReason }, index) => {
      const answer = written.schedules[index]?.answer === 'unchanged' ? 'unchanged' : 'created'
      const paused = answer === 'created' && pausedReason !== undefined
      return {
        name: spec.name,
        from,
        answer,
        paused,
        inWords: scheduleInWords(definitionOf(spec), context.kinds, context.fields.schedule),
      }
    }),
    runs: counted(written, draft),
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

async function writtenBy(
  { store, actor }: OperationContext,
  { left: _, ...draft }: Draft,
  { queue, reason, hint }: BringIn,
): Promise<DraftWritten> {
  try {
    return await store.do(writeDraft, draft, { queue, reason, actor })
  } catch (error) {
    if (!(error instanceof BelfryError) || error.code !== 'conflict') throw error
    const { message, details, cause } = error
    throw new BelfryError('conflict', message, { hint, cause, ...(details !== undefined && { details }) })
  }
}

function queuesOf({ queue }: DraftWritten, { queue: name }: BringIn): Imported['queues'] {
  return queue === null || queue.answer === 'version-differs' ? [] : [{ name, answer: queue.answer }]
}

function counted({ runs }: DraftWritten, { runs: drafted }: Draft): Imported['runs'] {
  const made = drafted.filter((_, index) => runs[index]?.created === true)
  const parked = made.filter(({ parkedReason }) => parkedReason !== undefined).length
  return { made: made.length, parked, known: runs.length - made.length }
}
