import { BoundedMap } from './bounded-map.ts'
import { resolveZone } from './zone-name.ts'

/** A stretch of time in which a zone keeps one offset. Blocks of the table cut it, so neighbours may have equal offsets. */
export interface Segment {
  readonly startMs: number
  readonly endMs: number
  /** Wall clock minus UTC. */
  readonly offsetMs: number
  /** By how much the wall clock jumped at `startMs`: positive is a gap, negative an overlap, 0 a mere cut. */
  readonly shiftMs: number
  /** From this instant on the wall shows times that it has not shown before; after `startMs` only in an overlap. */
  readonly freshFromMs: number
}

/** A zone with the part of its offsets that has been asked for so far. */
export interface Zone {
  readonly name: string
  readonly blocks: Segment[][]
  readonly offsetAt: (instantMs: number) => number
  recent: Segment
}

const DAY_MS = 86_400_000
/** No zone has changed its offset twice within five days since 1970. */
const PROBE_MS = 5 * DAY_MS
/** A block is what one question reads at most: 80 probes, and some twenty more for each change it finds. */
const BLOCK_MS = 80 * PROBE_MS
/** Longer than any overlap, so that a block knows whether it begins inside one. */
const LOOKBACK_MS = 2 * DAY_MS
/** From 1970 to 2250. Other instants are asked for so seldom, if ever, that they are read anew. */
const BLOCKS_KEPT = 256
const ZONES_MAX = 1_024

const zones = new BoundedMap<Zone>(ZONES_MAX)

/** The zone of that name, ready to be asked; throws a CronError for a name that is not known. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  const resolved = resolveZone(name)
  const zone: Zone = {
    name: resolved.name,
    blocks: [],
    offsetAt: resolved.isUtc ? () => 0 : offsetReader(name),
    recent: resolved.isUtc ? segment(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0) : segment(0, 0, 0),
  }
  zones.set(name, zone)
  return zone
}

/** What the wall clock of a zone is ahead of UTC at an instant. */
export function zoneOffsetMs(zone: string, atMs: number): number {
  return segmentAt(zoneOf(zone), atMs).offsetMs
}

/** UTC never leaves its one endless segment, so it pays for no table. */
export function segmentAt(zone: Zone, instantMs: number): Segment {
  const { recent } = zone
  if (instantMs >= recent.startMs && instantMs < recent.endMs) return recent
  zone.recent = locate(zone, instantMs)
  return zone.recent
}

function locate(zone: Zone, instantMs: number): Segment {
  const index = Math.floor(instantMs / BLOCK_MS)
  let block = zone.blocks[index]
  if (!block) {
    block = readBlock(zone, index * BLOCK_MS, (index + 1) * BLOCK_MS)
    if (index >= 0 && index < BLOCKS_KEPT) zone.blocks[index] = block
  }
  for (const candidate of block) if (instantMs < candidate.endMs) return candidate
  throw new RangeError(`${instantMs} is not an instant`)
}

function readBlock(zone: Zone, fromMs: number, untilMs: number): Segment[] {
  const block: Segment[] = []
  let offsetMs = zone.offsetAt(fromMs - LOOKBACK_MS)
  let open = segment(fromMs, untilMs, offsetMs)
  for (let at = fromMs - LOOKBACK_MS; at < untilMs; at += PROBE_MS) {
    const probeMs = Math.min(at + PROBE_MS, untilMs)
    const probed = zone.offsetAt(probeMs)
    if (probed === offsetMs) continue
    const changeMs = changeBetween(zone, at, probeMs, offsetMs)
    if (changeMs >= untilMs) break
    if (changeMs > fromMs) block.push({ ...open, endMs: changeMs })
    const startMs = Math.max(changeMs, fromMs)
    const shiftMs = probed - offsetMs
    open = {
      startMs,
      endMs: untilMs,
      offsetMs: probed,
      shiftMs: changeMs < fromMs ? 0 : shiftMs,
      freshFromMs: Math.max(startMs, changeMs - shiftMs),
    }
    offsetMs = probed
  }
  block.push(open)
  return block
}

/** The first instant after `lowMs` with another offset than `offsetMs`; offsets change on whole seconds. */
function changeBetween(zone: Zone, lowMs: number, highMs: number, offsetMs: number): number {
  let low = Math.floor(lowMs / 1_000)
  let high = Math.ceil(highMs / 1_000)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offsetAt(middle * 1_000) === offsetMs) low = middle
    else high = middle
  }
  return high * 1_000
}

function segment(startMs: number, endMs: number, offsetMs: number): Segment {
  return { startMs, endMs, offsetMs, shiftMs: 0, freshFromMs: startMs }
}

/** Reads offsets from the runtime's zone data, which spells them `GMT`, `GMT+05:30` or `GMT-00:44:30`. */
function offsetReader(name: string): (instantMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  return (instantMs) => {
    const parts = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instantMs))
    if (!parts) throw new Error(`The runtime gives no offset for the zone ${name} at ${instantMs}`)
    const [, sign, hours = 0, minutes = 0, seconds = 0] = parts
    const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
    return sign === '-' ? -offsetMs : offsetMs
  }
}
