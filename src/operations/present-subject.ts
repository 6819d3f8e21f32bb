import type { BelfryError } from '../core/error.ts'
import { canExecute } from '../core/queue/plan-leases.ts'
import { findQueue } from '../store/reads/find-queue.ts'
import { findSchedule } from '../store/reads/find-schedule.ts'
import type { TargetKind } from '../targets/kind.ts'
import { fleetOf } from './explain/fleet.ts'
import { quoted } from './input/refuse-input.ts'
import { absent, throwAbsentQueue, throwAbsentSchedule } from './not-found.ts'
import type { OperationContext } from './operation-context.ts'
import { belfryCommand } from './shell-words.ts'

/** What a hold is on, or whose runs a budget counts. A kind is `KIND` or `KIND/NAME`. */
export interface Subject {
  readonly scope: string
  readonly subject: string
}

/** The names of a scope that a part keeps, such as its accounts. */
export type SubjectNames = (context: OperationContext) => Promise<readonly string[]>

/** A hold or a budget on something that does not exist holds or counts nothing; most often its name is misspelt. */
export async function refuseAbsentSubject(context: OperationContext, wanted: Subject): Promise<void> {
  const { scope, subject } = wanted
  const { store } = context
  if (scope === 'schedule' && (await store.look(findSchedule, subject)) === null) {
    await throwAbsentSchedule(context, subject)
  }
  if (scope === 'queue' && (await store.look(findQueue, subject)) === null) await throwAbsentQueue(context, subject)
  const why = await absentName(context, wanted)
  if (why !== null) throw why
}

/** Why a kind, or a name that a part keeps, does not exist in this namespace; null where it does. */
export async function absentName(context: OperationContext, { scope, subject }: Subject): Promise<BelfryError | null> {
  if (scope === 'kind') return absentKind(context, subject)
  const known = await context.subjects?.[scope]?.(context)
  if (known === undefined || known.includes(subject)) return null
  return absent(scope, subject, known, `See them: \`${belfryCommand(scope, 'list')}\`.`)
}

async function absentKind({ kinds, store }: OperationContext, subject: string): Promise<BelfryError | null> {
  const { word, name } = partsOfKind(subject)
  const kind = kinds.find((one) => one.name === word)
  if (kind === undefined) {
    const open = kinds.filter(({ closed }) => closed === undefined).map((one) => one.name)
    return absent('kind', word, open, `The kinds are ${open.join(', ')}.`)
  }
  if (name === undefined || kind.closed !== undefined) return null
  if (!hasNames(kind)) {
    return absent('kind', subject, [], `Targets of the kind ${word} have no names: write ${quoted(word)}.`)
  }
  const names = (await kind.inStore?.(store))?.names
  if (names === undefined || names.known.includes(name)) return null
  return absent(names.noun, name, names.known, `See them: \`${belfryCommand(...names.listedBy)}\`.`)
}

/** Handlers have names without saying so: the name is their whole target. */
export function hasNames({ name, laneOf }: TargetKind): boolean {
  return name === 'handler' || laneOf !== undefined
}

/** `KIND` or `KIND/NAME`, apart. */
export function partsOfKind(subject: string): { readonly word: string; readonly name: string | undefined } {
  const [, word = '', name] = /^([^/]*)(?:\/(.*))?$/s.exec(subject) ?? []
  return { word, name }
}

/**
 * A note on a named executor that no live worker has, such as a handler. It may be misspelt, or its program may be started
 * later, so that it is no reason to refuse.
 */
export async function notOffered(context: OperationContext, { scope, subject }: Subject): Promise<string | null> {
  if (scope !== 'kind') return null
  const { word: kind, name } = partsOfKind(subject)
  if (name === undefined) return null
  const { live } = await fleetOf(context)
  if (live.some(({ can }) => canExecute({ kind, name }, can))) return null
  return `No live worker has the ${kind} ${quoted(name)}.`
}
