import { existsSync } from 'node:fs'
import {
  type CommittedPhase,
  commitPhase,
  type ItemDocument,
  type PhaseEnd,
} from '../../../core/corpus/commit-phase.ts'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import type { Inputs } from '../../../core/corpus/invalidate.ts'
import type { AnyPhaseState } from '../../../core/corpus/phases.ts'
import { BelfryError } from '../../../core/error.ts'
import { isRecord } from '../../../core/json/record.ts'
import { reasonText } from '../../../core/reason-text.ts'
import type { LastEffect } from '../../../core/run/last-effect.ts'
import type { Outcome } from '../../../core/run/verdict.ts'
import { type Corpus, lockCorpusById } from '../corpus-row.ts'
import type { Item } from '../items/item-row.ts'
import {
  discardTemporary,
  documentText,
  hashOf,
  keepSnapshot,
  readDocument,
  renameIntoPlace,
  writeBeside,
} from '../tree/document-file.ts'
import type { PhaseOrder } from './phase-run.ts'

export interface BegunPhase {
  readonly corpus: Corpus
  readonly item: Item
  readonly form: PhaseForm
  readonly forms: readonly PhaseForm[]
  /** The document that the phase started from. */
  readonly document: ItemDocument
  readonly text: string
  readonly phaseState: AnyPhaseState
  /** The inputs that the phase consumes. */
  readonly consumed: Inputs
}

export interface Placed {
  readonly committed: CommittedPhase
  readonly text: string
  readonly hash: string
  readonly stat: string
}

interface PhaseWork {
  readonly order: PhaseOrder
  readonly commit: { readonly run: string; readonly fence: number }
  /** Null if no phase has begun. */
  readonly begun: BegunPhase | null
  readonly end: PhaseEnd | null
  readonly now: number
}

/**
 * Writes the end of a phase. A document on disk is written here; an item in the store is written by the hook that finds this effect at the
 * end of the run. The effect is made before the attempt ends, so that the step that checks the fence only has to rename a file.
 */
export class PhaseEffect implements LastEffect {
  readonly order: PhaseOrder
  readonly begun: BegunPhase | null
  readonly commit: PhaseWork['commit']
  readonly now: number
  /** The document that was written; null if none was. */
  placed: Placed | null = null
  /** The end of the phase, once the outcome is known. */
  end: PhaseEnd | null
  readonly #prepared: { readonly temporary: string; readonly base: string; readonly made: Placed } | null = null

  constructor({ order, begun, commit, end, now }: PhaseWork) {
    this.order = order
    this.begun = begun
    this.commit = commit
    this.end = end
    this.now = now
    if (begun === null || end === null || begun.corpus.spec.root === null) return
    const made = this.#committed(begun, end, { document: begun.document, text: begun.text })
    const temporary = writeBeside(begun.corpus.spec.root, begun.item.path, made.text, this.#mark)
    this.#prepared = { temporary, base: hashOf(begun.text), made }
  }

  get #mark(): string {
    return `${this.commit.run}.${this.commit.fence}`
  }

  /**
   * Every edit locks the corpus from its read to its rename. Without the same lock a phase could end in between, and one of the two writes
   * would be lost.
   */
  get locks(): LastEffect['locks'] {
    if (this.begun === null) return undefined
    const { id } = this.begun.corpus
    return { order: id, take: () => lockCorpusById(id) }
  }

  take(outcome: Outcome): Outcome {
    const { begun } = this
    if (begun === null) return outcome
    if (outcome.kind === 'cancelled') this.end = { kind: 'failed', code: 'ABORT', message: outcome.reason ?? 'aborted' }
    else if (outcome.kind !== 'success' && outcome.kind !== 'failed') this.end = null
    const { root } = begun.corpus.spec
    if (this.end === null) {
      if (this.#prepared !== null) discardTemporary(this.#prepared.temporary)
      return outcome
    }
    if (root === null) return outcome
    try {
      this.placed = this.#place(root, begun, this.end)
      return outcome
    } catch (error) {
      if (error instanceof BelfryError) throw error
      const reason = `the document could not be written: ${reasonText((error as Error).message)}`
      this.end = { kind: 'failed', code: 'FAILED', message: reason }
      return { kind: 'failed', reason }
    }
  }

  /** A repeated call finds its own commit in the document, and writes nothing. */
  #place(root: string, begun: BegunPhase, end: PhaseEnd): Placed {
    const { path } = begun.item
    const current = readDocument(root, path)
    if (current === null) throw new Error('its document was deleted')
    if ('problem' in current) throw new Error(`its document ${current.problem}`)
    const { _commit: last } = current.document
    if (isRecord(last) && last.run === this.commit.run && last.fence === this.commit.fence) {
      const committed = this.placed?.committed ?? this.#prepared?.made.committed
      if (committed !== undefined) return { committed: { ...committed, document: current.document }, ...current }
    }
    const prepared = this.#prepared
    const isAsPrepared = prepared !== null && prepared.base === current.hash && end.kind === 'success'
    const made = isAsPrepared ? prepared.made : this.#committed(begun, end, current)
    const temporary =
      isAsPrepared && existsSync(prepared.temporary)
        ? prepared.temporary
        : writeBeside(root, path, made.text, this.#mark)
    const stat = renamed(root, path, temporary)
    this.#keepCopies(root, begun, end, made.committed)
    return { ...made, stat }
  }

  #committed(
    { document: base, phaseState, form, forms }: BegunPhase,
    end: PhaseEnd,
    { document, text: like }: { readonly document: ItemDocument; readonly text: string },
  ): Placed {
    const { now, commit } = this
    const committed = commitPhase({ now, document, base, phaseState, phase: form.name, forms, end, commit })
    const text = documentText(committed.document, like)
    return { committed, text, hash: hashOf(text), stat: '' }
  }

  /** The commit is valid even if the copies cannot be kept. */
  #keepCopies(
    root: string,
    { corpus, item }: BegunPhase,
    end: PhaseEnd,
    { isCycle, rejected, document }: CommittedPhase,
  ): void {
    const { maxArchive } = corpus.spec
    try {
      if (rejected.length > 0 && end.fields !== undefined) {
        keepSnapshot(root, item.path, end.fields, { at: this.now, maxArchive, mark: 'rejected' })
      }
      if (isCycle) keepSnapshot(root, item.path, document, { at: this.now, maxArchive })
    } catch {
      // The disk is full, for example. The next cycle keeps a copy again.
    }
  }
}

/**
 * If the file is gone, an edit has written the document while this process was frozen, and this transaction was rolled back. The step is
 * repeated, and checks the fence again.
 */
function renamed(root: string, path: string, temporary: string): string {
  try {
    return renameIntoPlace(root, path, temporary)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new BelfryError('unavailable', `The document of ${path} was written by another hand meanwhile.`)
  }
}
