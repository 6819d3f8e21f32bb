import { BoundedMap } from './bounded-map.ts'
import { CronError, quoted } from './cron-error.ts'
import { nearest } from './nearest-match.ts'

export interface ZoneName {
  /** The name to store and show. An alias such as Europe/Kyiv is kept as written. */
  name: string
  isUtc: boolean
}

const UTC_NAMES = new Set(['utc', 'etc/utc', 'uct', 'etc/uct', 'gmt', 'etc/gmt', 'zulu', 'etc/zulu', 'universal'])
const IANA_THREE_LETTERS = new Set(['UTC', 'GMT', 'UCT', 'EST', 'MST', 'HST', 'CET', 'MET', 'EET', 'WET'])
const IANA_COUNTRIES = new Set(['PRC', 'ROC', 'ROK'])
const TYPING_MISTAKES_MAX = 4

/** As many as there are names, and as many again in other letter case. */
const FORMATS_MAX = 1_024

/** Creating one takes as long as a hundred calls to it. */
const formats = new BoundedMap<Intl.DateTimeFormat>(FORMATS_MAX)

export function isKnownZone(name: string): boolean {
  return judged(name).fault === undefined
}

/**
 * Checks a zone against the runtime's IANA data and normalises its spelling. Offsets and abbreviations are refused even where the
 * runtime accepts them: an offset is not the writer's zone, only newer runtimes accept it, and IST or CST each name several
 * zones.
 */
export function resolveZone(name: string): ZoneName {
  const { canonical, fault } = judged(name)
  if (fault !== undefined) throw new CronError(String(name), { field: 'zone', position: 0, ...fault() })
  const spelledAlike = canonical.toLowerCase() === name.toLowerCase()
  return {
    name: spelledAlike ? canonical : name,
    isUtc: canonical === 'UTC' || UTC_NAMES.has(name.toLowerCase()),
  }
}

/**
 * A formatter that writes instants with the offset of a zone; throws a RangeError for a zone that the runtime
 * does not know.
 */
export function zoneFormat(name: string): Intl.DateTimeFormat {
  const known = formats.get(name)
  if (known) return known
  // Any one field works, and this is the fastest; without a field there would be three.
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, second: 'numeric', timeZoneName: 'longOffset' })
  formats.set(name, format)
  return format
}

interface Fault {
  readonly reason: string
  readonly suggestion: string
}

type Judged =
  | { readonly canonical: string; readonly fault?: undefined }
  /** A function, because the search for a correction goes through all zones and few errors are shown. */
  | { readonly canonical?: undefined; readonly fault: () => Fault }

function judged(name: string): Judged {
  const refused = (reason: string, suggestion: () => string) => ({
    fault: () => ({ reason, suggestion: suggestion() }),
  })
  if (typeof name !== 'string') return refused('a zone is text', () => 'Write an IANA name such as Europe/Paris')
  if (name === '') return refused('it is empty', () => 'Write an IANA name such as Europe/Paris, or UTC')
  const offset = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(name)
  if (offset) return refused('it is an offset, not a zone', () => zoneOfOffset(offset))
  const canonical = canonicalName(name)
  if (canonical === undefined) return refused('no zone of that name is known', () => likeliest(name))
  const letters = name.toUpperCase()
  if (/^[A-Z]{3}$/.test(letters) && !IANA_THREE_LETTERS.has(letters) && !IANA_COUNTRIES.has(letters)) {
    return refused('an abbreviation can mean several zones', () => `Write the full name, for instance ${canonical}`)
  }
  return { canonical }
}

function canonicalName(name: string): string | undefined {
  try {
    return zoneFormat(name).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** IANA spells fixed offsets with the sign of POSIX, the reverse of ISO 8601. */
function zoneOfOffset([, sign, hours, minutes]: RegExpExecArray): string {
  const isWholeHour = minutes === undefined || minutes === '00'
  const fixed = `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`
  if (Number(hours) === 0 && isWholeHour) return 'Write UTC'
  if (!isWholeHour || canonicalName(fixed) === undefined) return 'Write an IANA name such as Asia/Kolkata'
  return `Write the zone's IANA name, or ${fixed} (its sign is reversed) for that offset all year`
}

/** All zones, and the same by the last part of their names. */
interface KnownZones {
  readonly names: readonly string[]
  readonly cities: ReadonlyMap<string, string>
}

let knownZones: KnownZones | null = null

function allZones(): KnownZones {
  if (knownZones !== null) return knownZones
  const names = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  knownZones = { names, cities: new Map(names.map((name) => [name.slice(name.lastIndexOf('/') + 1), name])) }
  return knownZones
}

function likeliest(name: string): string {
  const wanted = name.trim().replaceAll(/\s+/g, '_')
  if (wanted.toLowerCase() === 'z') return 'Write UTC'
  const { names, cities } = allZones()
  const city = wanted.slice(wanted.lastIndexOf('/') + 1)
  const editsMax = Math.min(TYPING_MISTAKES_MAX, Math.ceil(wanted.length / 3))
  const nearestCity = nearest(city, [...cities.keys()], Math.min(editsMax, Math.ceil(city.length / 3)))
  const zone = nearest(wanted, names, editsMax) ?? (nearestCity === undefined ? undefined : cities.get(nearestCity))
  return zone === undefined ? 'Write an IANA name such as Europe/Paris, or UTC' : `Did you mean ${quoted(zone)}?`
}
