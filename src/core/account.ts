import { formatDuration } from './duration.ts'
import type { RateLimited } from './run/expect.ts'
import type { Utilisation } from './run/utilisation.ts'

/** How an account is bounded, as a person set it. */
export interface AccountSpec {
  /** How many runs may use it at once, over all queues. */
  readonly maxConcurrent?: number | undefined
  /** The longest block. */
  readonly blockMaxMs: number
  /** Above this share of a limit, only runs with at most this priority number start. */
  readonly headroom?: { readonly at: number; readonly priority: number } | undefined
  readonly currency?: string | undefined
}

export const blockMaxMsDefault = 6 * 3_600_000

/** What is known of an account from the attempts that used it. */
export interface AccountStanding {
  /**
   * The number of blocks of the account. An attempt that began before the last block says nothing about the time
   * after it.
   */
  readonly blocks: number
  /** How many runs may use it at once since the last block; null: as many as its ceiling allows. */
  readonly width: number | null
  /** How many runs have succeeded at this width. */
  readonly proven: number
  /** How many limits in a row came without a usable reset. */
  readonly limits: number
  readonly windows: readonly Utilisation[]
  /** The last failure of login or configuration, until a run succeeds. It blocks nothing: another program may be logged in. */
  readonly setup?: SetupFailure | undefined
}

export interface SetupFailure {
  readonly reason: string
  readonly run: string
  readonly at: number
}

export const newStanding: AccountStanding = { blocks: 0, width: null, proven: 0, limits: 0, windows: [] }

/** How many runs may use it at once. */
export function allowedBy({ maxConcurrent }: AccountSpec, { width }: AccountStanding): number {
  return Math.min(maxConcurrent ?? Number.POSITIVE_INFINITY, width ?? Number.POSITIVE_INFINITY)
}

/** After this many successes in parallel, an account without a ceiling counts as open. */
const widthMax = 256

/** After a success: once as many runs have succeeded as the account admits at once, it admits twice as many. */
export function afterSuccess(spec: AccountSpec, before: AccountStanding, begunAfter: number): AccountStanding {
  const { setup, ...without } = before
  const standing = setup === undefined ? before : without
  if (begunAfter !== standing.blocks) return standing
  const { width, proven } = standing
  if (width === null) return { ...standing, limits: 0 }
  if (proven + 1 < width) return { ...standing, limits: 0, proven: proven + 1 }
  const wider = width * 2
  const isOpen = wider >= (spec.maxConcurrent ?? widthMax)
  return { ...standing, limits: 0, proven: 0, width: isOpen ? null : wider }
}

/** A block by a person or a limit. When the block ends, one run is tried first. */
export function afterBlock(standing: AccountStanding): AccountStanding {
  return { ...standing, blocks: standing.blocks + 1, width: 1, proven: 0 }
}

const limitMsFirst = 60_000
const limitMsMax = 1_800_000
/** No provider's limit is longer; a reset further ahead is a mistake. */
const resetMsMax = 8 * 86_400_000

export interface LimitMet {
  readonly now: number
  readonly spec: AccountSpec
  readonly standing: AccountStanding
  readonly limit: RateLimited
  /** `blocks` when the attempt began. */
  readonly begunAfter: number
  /** The end of the block in force. */
  readonly blockedUntil: number | null
}

export interface LimitBlock {
  readonly until: number
  /** What kind of limit, and why its reset was not used. */
  readonly note: string
  readonly standing: AccountStanding
}

/**
 * Until when a refusal by the provider's limit blocks the account; `null` where a block in force already lasts as long.
 * Every attempt that was at work when the limit was reached reports it, so only a later reset changes the block.
 */
export function afterLimit({ now, spec, standing, limit, begunAfter, blockedUntil }: LimitMet): LimitBlock | null {
  const { at, why } = usableReset(limit, now)
  const note = `${limit.window ?? 'rate'} limit${why === null ? '' : ` (${why})`}`
  const latest = now + spec.blockMaxMs
  if (blockedUntil !== null && begunAfter < standing.blocks) {
    const until = Math.min(at ?? 0, latest)
    return until > blockedUntil ? { until, note, standing } : null
  }
  const limits = at === null ? standing.limits + 1 : standing.limits
  const unknownMs = Math.min(limitMsFirst * 2 ** Math.min(limits - 1, 10), limitMsMax)
  return { until: Math.min(at ?? now + unknownMs, latest), note, standing: { ...afterBlock(standing), limits } }
}

function usableReset({ resetAt, resetText }: RateLimited, now: number): { at: number | null; why: string | null } {
  if (resetText !== undefined) return { at: null, why: `its reset ${JSON.stringify(resetText)} is not an instant` }
  if (resetAt === undefined) return { at: null, why: null }
  if (!Number.isFinite(resetAt)) return { at: null, why: 'its reset is not an instant' }
  if (resetAt <= now) return { at: null, why: 'its reset has passed' }
  if (resetAt <= now + resetMsMax) return { at: Math.ceil(resetAt), why: null }
  return { at: null, why: `its reset is more than ${formatDuration(resetMsMax)} ahead` }
}

/** Reports of one window replace each other; a report of a window that was reset is dropped. */
export function withUtilisation(
  standing: AccountStanding,
  reports: readonly Utilisation[],
  now: number,
): AccountStanding {
  const windows = new Map([...standing.windows, ...reports].map((one) => [one.window, one]))
  return { ...standing, windows: [...windows.values()].filter(({ resetAt }) => resetAt > now) }
}

/** When a run of this priority may use the account; `null`: now. */
export function headroomUntil(
  { headroom }: AccountSpec,
  { windows }: AccountStanding,
  { now, priority }: { readonly now: number; readonly priority: number },
): number | null {
  if (headroom === undefined || priority <= headroom.priority) return null
  const over = windows.filter(({ share, resetAt }) => share >= headroom.at && resetAt > now)
  return over.length === 0 ? null : Math.max(...over.map(({ resetAt }) => resetAt))
}
