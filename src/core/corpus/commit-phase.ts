import type { PhaseForm } from './derive-phases.ts'
import type { Inputs } from './invalidate.ts'
import { type AnyPhaseState, owedPhase, transition } from './phases.ts'

export type ItemDocument = Readonly<Record<string, unknown>>

/** The result of a phase, for the document of its item. */
export type PhaseEnd =
  | {
      readonly kind: 'success'
      /** The fields that the phase wrote. */
      readonly fields: ItemDocument
      readonly inputs: Inputs
      readonly structureHash?: string | undefined
      /** Unknown is not 0. */
      readonly tokens?: number | undefined
    }
  | {
      readonly kind: 'failed'
      readonly code: 'FAILED' | 'TIMEOUT' | 'ABORT'
      readonly message: string
      /** What is left to do for a builder that ran out of time. */
      readonly fields?: ItemDocument | undefined
    }

export interface CommitPhaseInput {
  readonly now: number
  /** The document as it is now. */
  readonly document: ItemDocument
  /** The document that the phase was made from. */
  readonly base: ItemDocument
  readonly phaseState: AnyPhaseState
  readonly phase: string
  readonly forms: readonly PhaseForm[]
  readonly end: PhaseEnd
  readonly commit: { readonly run: string; readonly fence: number }
}

export interface CommittedPhase {
  readonly document: ItemDocument
  readonly phaseState: AnyPhaseState
  /** The fields of the result that a person changed meanwhile; the person's text stays. */
  readonly rejected: readonly string[]
  /** Whether this phase made the item fresh. */
  readonly isCycle: boolean
}

/** An average over the last calls: the newest counts 30 %. */
const newestShare = 0.3

/**
 * The document after a phase. Only the phase's own fields and the bookkeeping are written; everything else stays unchanged and in
 * its place.
 */
export function commitPhase(input: CommitPhaseInput): CommittedPhase {
  const { document, base, phase, forms, end, commit } = input
  const names = forms.map(({ name }) => name)
  const event = { type: end.kind === 'success' ? 'succeed' : 'fail', phase } as const
  const phaseState = transition({ phaseState: input.phaseState, event, phases: names })
  const isCycle = end.kind === 'success' && owedPhase(phaseState, names) === null
  const own = Object.entries(end.fields ?? {})
  const rejected = own.flatMap(([name]) => (isSame(document[name], base[name]) ? [] : [name]))
  const changes: Record<string, unknown> = Object.fromEntries(own.filter(([name]) => !rejected.includes(name)))
  Object.assign(changes, end.kind === 'success' ? successFields(input, end, isCycle) : failureFields(phase, end))
  changes._phaseState = phaseState
  changes._revision = numberIn(document._revision) + 1
  changes._commit = commit
  return { document: withFields(document, changes), phaseState, rejected, isCycle }
}

function successFields(
  { now, document, phase, forms }: CommitPhaseInput,
  end: Extract<PhaseEnd, { kind: 'success' }>,
  isCycle: boolean,
): Record<string, unknown> {
  const at = forms.findIndex(({ name }) => name === phase)
  const isFirst = at === 0
  const consumed = { ...(document._inputs as object | undefined), [phase]: { ...end.inputs, at: isoText(now) } }
  const count = isFirst ? 0 : numberIn(document._synthesisCount)
  return {
    _error: undefined,
    _inputs: consumed,
    // The last phase reviews what is there, and makes nothing new.
    ...((at < forms.length - 1 || forms.length === 1) && { _generatedAt: isoText(now) }),
    ...(isFirst && end.structureHash !== undefined && { _structureHash: end.structureHash }),
    ...((isFirst || isCycle) && { _synthesisCount: isCycle ? count + 1 : count }),
    ...tokenFields(document, phase, end.tokens),
  }
}

function tokenFields(document: ItemDocument, phase: string, tokens: number | undefined): Record<string, unknown> {
  if (tokens === undefined) return {}
  const before = document[`_${phase}TokensAvg`]
  const average = typeof before === 'number' ? before + newestShare * (tokens - before) : tokens
  return { [`_${phase}Tokens`]: tokens, [`_${phase}TokensAvg`]: average }
}

function failureFields(
  phase: string,
  { code, message }: Extract<PhaseEnd, { kind: 'failed' }>,
): Record<string, unknown> {
  return { _error: { step: phase, code, message } }
}

/** The fields in their places, new ones at the end; undefined removes one. */
export function withFields(document: ItemDocument, changes: Readonly<Record<string, unknown>>): ItemDocument {
  return Object.fromEntries(
    Object.entries({ ...document, ...changes }).filter(([name, value]) => value !== undefined || !(name in changes)),
  )
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function numberIn(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0
}

function isoText(ms: number): string {
  return new Date(ms).toISOString()
}
