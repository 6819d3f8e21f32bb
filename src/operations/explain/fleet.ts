import { z } from 'zod'
import { type Capabilities, canExecute, lanesOf, type TargetNeed } from '../../core/queue/plan-leases.ts'
import { needOf, type Target } from '../../core/target.ts'
import { listWorkers } from '../../store/reads/list-workers.ts'
import { clockNow } from '../../store/statement.ts'
import type { WorkerView } from '../../store/views.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { quoted } from '../input/refuse-input.ts'
import type { OperationContext } from '../operation-context.ts'
import { type AnswerOf, count, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { shellWord } from '../shell-words.ts'
import { areSideBySide, isDead, isLiveAt } from '../worker/worker-alive.ts'
import { byHand, type Unblock } from './unblock.ts'
import { plural } from './words.ts'

/** The workers that can fire and execute, by the store's clock. */
export interface Fleet {
  readonly now: number
  /** All known workers, stopped ones included. */
  readonly workers: readonly WorkerView[]
  readonly live: readonly WorkerView[]
  readonly kinds: readonly TargetKind[]
}

export async function fleetOf({ store, kinds }: OperationContext): Promise<Fleet> {
  const [workers, now] = await Promise.all([store.look(listWorkers), store.look(clockNow)])
  return { now, workers, live: workers.filter((worker) => isLiveAt(worker, now)), kinds }
}

/** A worker that is known to be dead. */
export interface Death {
  /** A live worker on the same machine can see it: from another machine a dead worker only looks silent. */
  readonly isSeen: boolean
}

/** The death of the worker that holds a lease; null where it is not certain. */
export function deathOf(workerId: string | null | undefined, { workers, live }: Fleet): Death | null {
  const worker = workers.find(({ id }) => id === workerId)
  if (worker === undefined || !isDead(worker)) return null
  return { isSeen: live.some((other) => areSideBySide(other, worker)) }
}

export const takers = noted(
  z
    .strictObject({
      live: count('How many workers are alive.'),
      able: count('How many of them can execute it.'),
      needs: text('What a worker must have to execute it.'),
      sentence: text('The same in words.'),
    })
    .describe('The workers that could execute it.'),
  { id: 'Takers' },
)
export type Takers = AnswerOf<typeof takers>

/** A target with the queue it is in. */
export interface Work {
  readonly target?: Target | null | undefined
  readonly queue: string
}

export function takersOf({ target, queue }: Work, { live }: Fleet): Takers {
  const answer = needOf(target)
  if (!('need' in answer)) {
    const needs = 'an executable target'
    return { live: live.length, able: 0, needs, sentence: sentenceOf({ live, able: 0, needs, elsewhere: [] }) }
  }
  const { need } = answer
  const able = takersAmong(need, queue, live).length
  const elsewhere = able > 0 ? [] : ableAmong(need, live)
  // The queue is named only when some worker does not work for all queues.
  const isPicky = need !== null && live.some(({ can }) => can.queues !== undefined)
  const needs = `${needWords(need)}${isPicky && (able > 0 || elsewhere.length > 0) ? ` for queue ${queue}` : ''}`
  if (need === null && able === 0) return { live: live.length, able, needs, sentence: forHosts }
  return { live: live.length, able, needs, sentence: sentenceOf({ live, able, needs, elsewhere }) }
}

const forHosts = 'It has no target: outside hosts lease it through a door.'

interface Served extends Pick<Takers, 'able' | 'needs'>, Pick<Fleet, 'live'> {
  /** Workers that could execute it if they worked for its queue. */
  readonly elsewhere: readonly WorkerView[]
}

function sentenceOf({ live, able, needs, elsewhere }: Served): string {
  if (able > 0) {
    return `${able} of ${plural(live.length, 'live worker', 'live workers')} ${able === 1 ? 'has' : 'have'} ${needs}.`
  }
  if (live.length === 0) return 'No worker is alive.'
  const halted = haltOf({ live })
  if (halted !== null) return `No live worker starts anything: each is stopped by ${halted}.`
  const none = `${plural(live.length, 'worker is', 'workers are')} alive, but none has ${needs}`
  return elsewhere.length > 0 ? `${none}: ${othersOnly(elsewhere)}.` : `${none}: ${offers(live)}.`
}

/** Which queues they work for instead. */
function othersOnly(elsewhere: readonly WorkerView[]): string {
  const queues = [...new Set(elsewhere.flatMap(({ can }) => can.queues ?? []))].sort()
  const shown = queues.slice(0, offersMax).join(', ')
  const rest = queues.length > offersMax ? ` and ${queues.length - offersMax} more` : ''
  const who = elsewhere.length === 1 ? 'the live worker that has it works' : 'the live workers that have it work'
  return `${who} only for ${queues.length === 1 ? 'queue' : 'queues'} ${shown}${rest}`
}

type Serving = Pick<Fleet, 'live' | 'kinds'>

/** The action that gives it a worker. */
export function wayToServe({ target, queue }: Work, serving: Serving): Unblock {
  const answer = needOf(target)
  return 'need' in answer ? wayToMeet(answer.need, queue, serving) : byHand('Give it an executable target.')
}

/** The live workers that start nothing, each for its reason. Hosts and sessions take runs through doors and are never among them. */
export function haltedAmong(live: readonly WorkerView[]): readonly (WorkerView & { readonly halted: string })[] {
  return live.filter((worker) => worker.halted !== null) as (WorkerView & { readonly halted: string })[]
}

/** Why no live worker starts anything; null where one does, or none is alive. Hosts and sessions fire and execute nothing. */
export function haltOf({ live }: Pick<Fleet, 'live'>): string | null {
  const workers = live.filter(({ isHost }) => !isHost)
  const halted = haltedAmong(workers)
  return halted.length === workers.length ? (halted[0]?.halted ?? null) : null
}

/** The action that ends a halt: of the file `.belfry/STOP`, or of the process itself. */
export function wayToUnhalt(halted: string): Unblock {
  return byHand(haltLift(halted))
}

/** The same in one sentence. A reason of a file begins with its path. */
export function haltLift(halted: string): string {
  if (halted.startsWith('BELFRY_DISABLED')) return 'Start a worker without BELFRY_DISABLED.'
  const [path] = halted.split(/: | \(E[A-Z]+\)$/, 1)
  return `Remove the file that stops the workers: \`rm ${shellWord(path ?? halted)}\`.`
}

/** The action that provides the missing executor. */
export function wayToMeet(need: TargetNeed | null, queue: string, { live, kinds }: Serving): Unblock {
  if (need === null) return byHand('Give it a target, or lease it as an outside host: `belfry sched lease`.')
  const halted = haltOf({ live })
  if (halted !== null) return wayToUnhalt(halted)
  const kind = kinds.find(({ name }) => name === need.kind)
  // `belfry up` executes these kinds; other executors are functions in the user's programs or belong to parts of other programs.
  const command = kind?.executor === undefined || need.name !== undefined ? [] : ['up']
  if (ableAmong(need, live).length > 0 && takersAmong(need, queue, live).length === 0) {
    return need.name !== undefined && kind?.executor === undefined
      ? byHand(`Let the program that has it work for queue ${queue} too: call start() without queues.`)
      : byHand(`Start a worker for queue ${queue}: one without a list of queues.`, ...command)
  }
  if (need.name !== undefined) {
    // Whether a worker has an executor of that name is known only once a worker is alive.
    if (live.length === 0 && kind?.executor !== undefined) return byHand('Start a worker.', 'up')
    return byHand(kind?.serving?.(need.name) ?? `Start a worker that has ${needWords(need)}.`)
  }
  return command.length === 0
    ? byHand(`Start a worker that executes ${need.kind} targets.`)
    : byHand('Start a worker.', ...command)
}

/** The live workers that work for a queue and can execute its work. Explain and doctor both use this. */
export function takersAmong(
  need: TargetNeed | null | undefined,
  queue: string,
  live: readonly WorkerView[],
): WorkerView[] {
  return ableAmong(need, workersFor(queue, live))
}

function ableAmong(need: TargetNeed | null | undefined, workers: readonly WorkerView[]): WorkerView[] {
  return workers.filter(({ can }) => canExecute(need, can))
}

/** The workers that lease from a queue at all. */
export function workersFor(queue: string, workers: readonly WorkerView[]): WorkerView[] {
  return workers.filter(({ can }) => can.queues === undefined || can.queues.includes(queue))
}

export function needWords(need: TargetNeed | null): string {
  if (need === null) return 'a host for work without a target'
  return need.name === undefined ? `the target kind ${need.kind}` : `the ${need.kind} ${quoted(need.name)}`
}

const offersMax = 8

/** What the live workers can execute, to show which one is missing. */
function offers(live: readonly WorkerView[]): string {
  const found = [...new Set(live.flatMap(({ can }) => offersOf(can)))]
  const shown = found.slice(0, offersMax).join(', ')
  if (found.length === 0) return 'they can execute nothing'
  return `they have ${shown}${found.length > offersMax ? ` and ${found.length - offersMax} more` : ''}`
}

function offersOf(can: Capabilities): string[] {
  const lanes = lanesOf(can).toSorted((a, b) => Number(a.name === undefined) - Number(b.name === undefined))
  return [...lanes.map(needWords), ...(can.host === true ? ['hosting'] : [])]
}

/** A worker by name and host. */
export function workerName(id: string | null, { workers }: Fleet): string | null {
  if (id === null) return null
  const found = workers.find((worker) => worker.id === id)
  return found === undefined ? id : `${found.name} on ${found.host} (${id})`
}
