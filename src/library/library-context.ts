import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import type { Clock } from '../core/clock.ts'
import { haltReason } from '../engine/engine.ts'
import { kinds } from '../kinds.ts'
import type { OperationContext, Outgoing } from '../operations/operation-context.ts'
import type { Waits } from '../operations/run/waits.ts'
import type { Store } from '../store/port.ts'
import {
  attemptFacts,
  budgetsOf,
  checks,
  fields,
  holdReasons,
  operations,
  origins,
  queues,
  runNotes,
  scheduleNotes,
  sections,
  subjects,
} from '../table.ts'
import { secretResolver } from '../targets/secret.ts'
import type { Opening } from './options.ts'

interface Parts {
  readonly store: Store
  readonly opening: Opening
  readonly clock: Clock
  readonly waits: Waits
  readonly door: string
  /** The base of relative programs and folders of commands. */
  readonly folder: string
}

type OwnContext = OperationContext & { readonly outgoing: Outgoing }

/** The context of the verbs in this process. */
export function contextOf({ store, opening, clock, waits, door, folder }: Parts): OwnContext {
  const { zone, defaultMaxConcurrent, halt, network = {} } = opening
  const halted = () => haltReason(halt)
  const actor = { name: opening.name ?? userName(), door }
  const ofParts = {
    attemptFacts,
    budgetsOf,
    origins,
    holdReasons,
    runNotes,
    scheduleNotes,
    checks,
    fields,
    kinds,
    queues,
    sections,
    subjects,
    operationOf,
  }
  const outgoing = { network, secrets: secretResolver({ env: process.env, folder: opening.secretsFolder }) }
  return { store, clock, actor, zone, folder, defaultMaxConcurrent, waits, halted, outgoing, ...ofParts, randomHex }
}

function operationOf(noun: string, verb: string) {
  return operations.find((operation) => operation.noun === noun && operation.verb === verb)
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
