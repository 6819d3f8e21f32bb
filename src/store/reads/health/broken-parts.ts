import { checkInteger } from '../../check.ts'
import type { BrokenPart } from '../../health-views.ts'
import { behindNobody, brokenChain, findGates, isKeyShut } from '../../schedules/repair.ts'
import { all, both, clockNow, type Row, type Step } from '../../statement.ts'
import type { StoreContext } from '../../store-context.ts'

const findChains = both(
  'health chains',
  `select s.name, s.paused_until from belfry.schedule s where s.ns = $1 and ${brokenChain} order by s.id limit $2`,
)
const findOverlaps = both(
  'health overlaps',
  ({ join }) => `select distinct n.id, n.name from belfry.schedule_run s
    ${join.inner('schedule n', 'n.id = s.schedule_id')} where s.ns = $1 and ${behindNobody(join)} order by n.id limit $2`,
)

const limitMax = 1_000
/** Half as many lanes as `repair` reads: a person waits for this answer. */
const gatesMax = 5_000

/** Finds what `repair` would fix, in this namespace alone, and changes nothing. */
export function* brokenParts(context: StoreContext, limit: number): Step<BrokenPart[]> {
  checkInteger(limit, 'limit', 1, limitMax)
  const now = yield* clockNow()
  const chains = (yield* all(findChains, context.ns, limit)).filter(
    ({ paused_until: until }) => until === null || (until as number) <= now,
  )
  const overlaps = yield* all(findOverlaps, context.ns, limit)
  const gates = (yield* all(findGates, gatesMax, now)).filter((row) => row.ns === context.ns && !isKeyShut(row))
  return [...chains.map(chainOf), ...overlaps.map(overlapOf), ...gatesOf(gates)].slice(0, limit)
}

function chainOf({ name }: Row): BrokenPart {
  const sentence = `Schedule ${name} has neither a next instant nor a live run to wait for, so it will never fire.`
  return { what: 'chain', subject: name as string, sentence }
}

function overlapOf({ name }: Row): BrokenPart {
  const sentence = `A run of schedule ${name} waits for others that have all ended.`
  return { what: 'overlap-gate', subject: name as string, sentence }
}

/** A key with several lanes is listed once. */
function gatesOf(rows: readonly Row[]): BrokenPart[] {
  const sentences = new Map(rows.map((row) => [gateSentence(row), row.name as string]))
  return [...sentences].map(([sentence, subject]) => ({ what: 'key-gate', subject, sentence }))
}

function gateSentence(row: Row): string {
  return `Runs of key ${JSON.stringify(row.concurrency_key)} in queue ${row.name} wait for a free slot of the key although one is free.`
}
