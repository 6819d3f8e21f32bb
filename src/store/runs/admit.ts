import { holdOn } from '../holds/hold-row.ts'
import { all, dialects, type Step, thereIs } from '../statement.ts'
import { type Gate, lockGates, regateLocked, tryLockGate } from './key-gate.ts'
import { type Aside, byPlace, putInLine, type ReadyRow, setAside } from './ready-aside.ts'

/** A live run that needs a place: in line or aside. */
export interface Arrival {
  readonly standing: ReadyRow
  /** The earliest instant it may start, and why; `null` when it may start at once. */
  readonly eligible: { readonly at: number; readonly reason: string } | null
  /** The run must wait for another run of its schedule, or for the end of a pause or hold of its schedule. */
  readonly kept: 'overlap' | 'held' | null
  /** The ceiling of its key, if it has a key and the queue such a ceiling. */
  readonly keyLimit: number | null
  /** No gate is locked for the run: it goes into line, and the lease that reads it decides. */
  readonly passesGates?: boolean
}

const ofKey = 'queue_id = $1 and concurrency_key = i.value'
const statesIn = (list: string, ready: string, now: string) => `select i.value as key,
    case when ${thereIs(`from belfry.lease where ${ofKey}`)}
      or ${thereIs(`from ${ready} where ${ofKey}`)}
      or ${thereIs(`from belfry.aside where kind = 'key' and ${ofKey}`)} then 1 else 0 end as is_busy,
    ${holdOn('key', 'i.value', { ns: '$3', now })} as held_by
  from ${list} i`
const findKeyStates = dialects('admit find key states', {
  sqlite: statesIn('json_each($2)', 'belfry.ready indexed by ready_key', '$4'),
  postgres: statesIn('(select json_array_elements_text($2::json) as value)', 'belfry.ready', '$4'),
})

/** How many gates one step locks at most: PostgreSQL keeps all locks in one table of fixed size. */
const gatesMax = 200

/**
 * The one rule for the place of a live run: held by a pause, behind a run of its schedule, waiting for its instant, behind its
 * key's gate, or in line. Every step that creates, returns or frees a run ends here.
 */
export function* admit(now: number, arrivals: readonly Arrival[]): Step<void> {
  const inLine: ReadyRow[] = []
  const aside: Aside[] = []
  const gates = new Map<string, AtGate>()
  for (const { standing, eligible, kept, keyLimit, passesGates = false } of arrivals) {
    const at = eligible?.at ?? standing.enqueuedAt
    if (kept !== null) aside.push({ standing, kind: kept, at, reason: eligible?.reason ?? null })
    else if (eligible !== null && eligible.at > now)
      aside.push({ standing, kind: 'waiting', at, reason: eligible.reason })
    else if (standing.key !== null && !passesGates) gather(gates, standing, standing.key, keyLimit)
    else inLine.push(standing)
  }
  const sorted = yield* sortAtGates(now, [...gates.values()])
  yield* putInLine([...inLine, ...sorted.inLine])
  yield* setAside([...aside, ...sorted.behind.map(behindGate)])
  for (const gate of sorted.locked) yield* regateLocked(gate)
}

interface AtGate {
  readonly gate: Gate
  readonly standings: ReadyRow[]
}

function gather(gates: Map<string, AtGate>, standing: ReadyRow, key: string, limit: number | null): void {
  const { ns, queueId } = standing
  const known = gates.get(gateName(standing))
  if (known === undefined) gates.set(gateName(standing), { gate: { ns, queueId, key, limit }, standings: [standing] })
  else known.standings.push(standing)
}

interface SortedAtGates {
  readonly inLine: ReadyRow[]
  readonly behind: ReadyRow[]
  readonly locked: Gate[]
}

/**
 * If no other run has the key, the first runs go into line and the others behind the gate. If other runs have the key, or the key
 * is held, the gate decides, provided that it can be locked at once. Otherwise the runs go into line, and the lease that reads
 * them moves them behind the gate.
 */
function* sortAtGates(now: number, gates: readonly AtGate[]): Step<SortedAtGates> {
  const sorted: SortedAtGates = { inLine: [], behind: [], locked: [] }
  const judged = yield* gatesThatJudge(now, gates)
  for (const { gate, standings } of gates) {
    if (!judged.has(gateName(gate))) sortAlone(sorted, standings, gate.limit ?? Number.POSITIVE_INFINITY)
    else if (sorted.locked.length < gatesMax && (yield* tryLockGate(gate))) {
      sorted.locked.push(gate)
      sorted.behind.push(...standings)
    } else sorted.inLine.push(...standings)
  }
  return sorted
}

function sortAlone({ inLine, behind }: SortedAtGates, standings: readonly ReadyRow[], limit: number): void {
  const ofLane = new Map<number, number>()
  for (const standing of standings.toSorted(byPlace)) {
    const before = ofLane.get(standing.needId) ?? 0
    ofLane.set(standing.needId, before + 1)
    if (before < limit) inLine.push(standing)
    else behind.push(standing)
  }
}

interface KeyState {
  readonly key: string
  readonly is_busy: number
  readonly held_by: number | null
}

function* gatesThatJudge(now: number, gates: readonly AtGate[]): Step<Set<string>> {
  const judged = new Set<string>()
  for (const queueId of new Set(gates.map(({ gate }) => gate.queueId))) {
    const ofQueue = new Map(gates.flatMap(({ gate }) => (gate.queueId === queueId ? [[gate.key, gate]] : [])))
    const [{ ns }] = [...ofQueue.values()] as [Gate]
    const rows = yield* all<KeyState>(findKeyStates, queueId, JSON.stringify([...ofQueue.keys()]), ns, now)
    for (const { key, is_busy: isBusy, held_by: hold } of rows) {
      const isFull = isBusy === 1 && ofQueue.get(key)?.limit !== null
      if (isFull || hold !== null) judged.add(gateName({ queueId, key }))
    }
  }
  return judged
}

function behindGate(standing: ReadyRow): Aside {
  return { standing, kind: 'key', at: standing.enqueuedAt, reason: standing.key }
}

/** Waits for the locks of gates and regates each; used by steps that removed runs of these keys. */
export function* regateAll(gates: ReadonlyMap<string, Gate>): Step<void> {
  yield* lockGates(gates.values())
  for (const gate of gates.values()) yield* regateLocked(gate)
}

export function gateName({ queueId, key }: { queueId: number; key: string | null }): string {
  return `${queueId} ${key}`
}
