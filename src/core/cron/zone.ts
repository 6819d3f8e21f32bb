import { BoundedMap } from './bounded-map.ts'
import { resolveZone, type ZoneName, zoneFormat } from './zone-name.ts'

/** A stretch of time in which a zone keeps one offset, cut where offsets are not read yet. */
export interface Segment {
  readonly startMs: number
  readonly endMs: number
  /** Wall clock minus UTC. */
  readonly offsetMs: number
  /** How far the wall clock jumped at `startMs`: positive is a gap, negative an overlap, 0 a mere cut. */
  readonly shiftMs: number
  /** From this instant on the wall clock shows times that it has not shown before; after `startMs` only in an overlap. */
  readonly freshFromMs: number
}

/** A zone with the offsets read so far. */
export interface Zone {
  readonly name: string
  /** In order, with holes where nothing was read. */
  readonly segments: Segment[]
  readonly offsetAt: (instantMs: number) => number
  recent: Segment
}

const SECOND_MS = 1_000
const QUARTER_MS = 900 * SECOND_MS
const DAY_MS = 86_400 * SECOND_MS
/** No zone has changed its offset twice within five days since 1970. */
const PROBE_MS = 5 * DAY_MS
/** Longer than any overlap, so that a block that begins inside one is recognised. */
const LOOKBACK_MS = 2 * DAY_MS
/**
 * A block is what one query reads at most: seven probes, and ten more for each change it finds. A longer one would make the first
 * query of a zone expensive, and one request may query every zone.
 */
const BLOCK_MS = 6 * PROBE_MS - LOOKBACK_MS
/** Enough until the horizon for a zone with two clock changes a year. */
const SEGMENTS_MAX = 512
const ZONES_MAX = 1_024

const zones = new BoundedMap<Zone>(ZONES_MAX)

/** The zone of that name; throws a CronError for an unknown name. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  const resolved = resolveZone(name)
  // A zone is read once, however its letter case is written.
  const zone = resolved.name === name ? newZone(resolved, offsetReader(resolved)) : zoneOf(resolved.name)
  zones.set(name, zone)
  return zone
}

export function newZone({ name, isUtc }: ZoneName, offsetAt: Zone['offsetAt']): Zone {
  const recent = isUtc ? segment(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0) : segment(0, 0, 0)
  return { name, segments: [], offsetAt, recent }
}

/** The offset of a zone from UTC at an instant. */
export function zoneOffsetMs(zone: string, atMs: number): number {
  return segmentAt(zoneOf(zone), atMs).offsetMs
}

/** UTC never leaves its one endless segment, so it needs no table. */
export function segmentAt(zone: Zone, instantMs: number): Segment {
  const { recent } = zone
  if (instantMs >= recent.startMs && instantMs < recent.endMs) return recent
  zone.recent = locate(zone, instantMs)
  return zone.recent
}

function locate(zone: Zone, instantMs: number): Segment {
  const place = placeOf(zone, instantMs)
  const known = zone.segments[place - 1]
  if (known !== undefined && instantMs < known.endMs) return known
  const startMs = Math.floor(instantMs / BLOCK_MS) * BLOCK_MS
  keep(zone, place, readBlock(zone, startMs, startMs + BLOCK_MS))
  return zone.segments[placeOf(zone, instantMs) - 1] as Segment
}

/** How many of the segments begin at an instant or before it. */
function placeOf({ segments }: Zone, instantMs: number): number {
  let low = 0
  let high = segments.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((segments[middle] as Segment).startMs <= instantMs) low = middle + 1
    else high = middle
  }
  return low
}

/** Inserts a block, merged with its neighbours where the offset is the same. */
function keep({ segments }: Zone, place: number, block: readonly Segment[]): void {
  if (segments.length > SEGMENTS_MAX) segments.length = 0
  const first = Math.max(0, Math.min(place, segments.length) - 1)
  const joined: Segment[] = []
  for (const next of [...segments.slice(first, place), ...block, ...segments.slice(place, place + 1)]) {
    const last = joined.at(-1)
    if (last?.endMs === next.startMs && next.shiftMs === 0) joined.splice(-1, 1, until(last, next.endMs))
    else joined.push(next)
  }
  segments.splice(first, place + 1 - first, ...joined)
}

function readBlock(zone: Zone, fromMs: number, untilMs: number): Segment[] {
  const closed: Segment[] = []
  let offsetMs = zone.offsetAt(fromMs - LOOKBACK_MS)
  let open = segment(fromMs, untilMs, offsetMs)
  for (let at = fromMs - LOOKBACK_MS; at < untilMs; at += PROBE_MS) {
    const probeMs = Math.min(at + PROBE_MS, untilMs)
    const probed = zone.offsetAt(probeMs)
    if (probed === offsetMs) continue
    const changeMs = changeBetween(zone, at, probeMs, offsetMs)
    if (changeMs >= untilMs) break
    if (changeMs > fromMs) closed.push(until(open, changeMs))
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
  return [...closed, open]
}

/**
 * The first instant after `lowMs` with another offset than `offsetMs`. Offsets change on whole seconds, and nearly always on a
 * quarter of an hour, which takes half as many probes to find.
 */
function changeBetween(zone: Zone, lowMs: number, highMs: number, offsetMs: number): number {
  const quarterMs = halved(zone, { lowMs, highMs, offsetMs, stepMs: QUARTER_MS })
  if (zone.offsetAt(quarterMs - SECOND_MS) === offsetMs) return quarterMs
  return halved(zone, { lowMs: quarterMs - QUARTER_MS, highMs: quarterMs, offsetMs, stepMs: SECOND_MS })
}

interface Halving {
  readonly lowMs: number
  readonly highMs: number
  readonly offsetMs: number
  readonly stepMs: number
}

/** The first whole step after `lowMs`, at most `highMs`, with another offset. */
function halved(zone: Zone, { lowMs, highMs, offsetMs, stepMs }: Halving): number {
  let low = Math.floor(lowMs / stepMs)
  let high = Math.ceil(highMs / stepMs)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offsetAt(middle * stepMs) === offsetMs) low = middle
    else high = middle
  }
  return high * stepMs
}

/** Field by field, because an object made by spreading is slower to read afterwards. */
function until({ startMs, offsetMs, shiftMs, freshFromMs }: Segment, endMs: number): Segment {
  return { startMs, endMs, offsetMs, shiftMs, freshFromMs }
}

function segment(startMs: number, endMs: number, offsetMs: number): Segment {
  return { startMs, endMs, offsetMs, shiftMs: 0, freshFromMs: startMs }
}

/** Reads offsets from the runtime's zone data, which spells them `GMT`, `GMT+05:30` or `GMT-00:44:30`. */
function offsetReader({ name, isUtc }: ZoneName): Zone['offsetAt'] {
  if (isUtc) return () => 0
  const format = zoneFormat(name)
  let [lastText, lastMs] = ['', 0]
  return function offsetAt(instantMs) {
    const text = format.format(instantMs)
    if (text === lastText) return lastMs
    const parts = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text)
    if (!parts) throw new Error(`The runtime gives no offset for the zone ${name} at ${instantMs}`)
    const [, sign, hours = 0, minutes = 0, seconds = 0] = parts
    const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND_MS
    lastText = text
    lastMs = sign === '-' ? -offsetMs : offsetMs
    return lastMs
  }
}
