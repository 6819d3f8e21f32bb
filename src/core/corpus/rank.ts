import { type AnyPhaseState, namesOfPhases, owedPhase, type PhaseList } from './phases.ts'

export interface RankedInput {
  readonly path: string
  readonly depth: number
  /** The weight of this item's depth; default 1. */
  readonly emphasis?: number | undefined
  /** When it was last generated; null if never. */
  readonly generatedAt: number | null
  readonly disabled?: boolean | undefined
  readonly locked?: boolean | undefined
  readonly phaseState: AnyPhaseState
}

export interface RankInput {
  readonly now: number
  readonly items: readonly RankedInput[]
  /** Default 0.5. */
  readonly depthWeight: number
  /** The least depth of the whole corpus, where these are not all of its items. */
  readonly minDepth?: number | undefined
  /** The phases in their order. Default: architect, builder, critic. */
  readonly phases?: PhaseList | undefined
  /** `staleness` leaves the bands out, so that no phase starves behind another. Default: by bands. */
  readonly by?: 'bands' | 'staleness' | undefined
}

export interface RankedItem {
  readonly path: string
  readonly phase: string
  /** Later phases come first: finishing one item is worth more than beginning another. */
  readonly band: number
  /** Seconds since it was generated, weighted by depth; null if it never was, which comes first in its band. */
  readonly effectiveStaleness: number | null
}

export const depthWeightDefault = 0.5

/** The items with work left, most urgent first. */
export function rankItems(input: RankInput): RankedItem[] {
  const first = input.by === 'staleness' ? moreStaleFirst : mostOwedFirst
  return weighed(input)
    .sort((a, b) => first(a, b) || byPath(a, b))
    .map(({ path, phase, band, effectiveStaleness }) => ({ path, phase, band, effectiveStaleness }))
}

/** The band of a phase: 1 for the last of its corpus. */
export function bandOf(phase: string, phases?: PhaseList): number {
  const names = namesOfPhases(phases)
  return names.length - names.indexOf(phase)
}

export interface PassedOver {
  readonly path: string
  readonly reason: 'fresh' | 'disabled' | 'locked' | 'running' | 'failed' | 'stale' | 'outranked'
}

export interface PhaseSelection {
  readonly selected: RankedItem | null
  readonly passedOver: readonly PassedOver[]
}

/** Picks the most urgent phase, with the reason why each other item was not picked. */
export function selectPhase(input: RankInput): PhaseSelection {
  const selected = rankItems(input)[0] ?? null
  const others = input.items.filter(({ path }) => path !== selected?.path)
  const passedOver = others.map((item) => ({
    path: item.path,
    reason: unrankedReason(item, input.phases) ?? ('outranked' as const),
  }))
  return { selected, passedOver }
}

/** Why an item of a ranking comes before the next one. */
export function whyBefore(first: RankedItem, second: RankedItem, by: 'bands' | 'staleness' = 'bands'): string {
  if (by === 'bands' && first.band !== second.band) return `band ${first.band} comes before band ${second.band}`
  const [one, other] = [first.effectiveStaleness, second.effectiveStaleness]
  if (one !== other && one === null) return 'it was never generated'
  if (one !== null && other !== null && one !== other)
    return `${Math.round(one).toLocaleString('en')} is more than ${Math.round(other).toLocaleString('en')}`
  return one === null ? 'neither was generated, and depth or path decides' : 'they are equal, and the path decides'
}

/** What the staleness of an item is made of. */
export interface Staleness {
  /** Null if it was never generated. */
  readonly seconds: number | null
  /** Its depth below the least deep item of the corpus. */
  readonly depth: number
  readonly exponent: number
  readonly depthFactor: number
}

/** The arithmetic for one item. Values that are not numbers count as absent, and a future instant as now. */
export function stalenessOf(
  { depth, emphasis, generatedAt }: Pick<RankedInput, 'depth' | 'emphasis' | 'generatedAt'>,
  { now, depthWeight, minDepth }: { readonly now: number; readonly depthWeight: number; readonly minDepth: number },
): Staleness {
  const below = Math.max(0, soundDepth(depth) - minDepth)
  const exponent = atLeastZero(depthWeight, depthWeightDefault) * atLeastZero(emphasis, 1)
  const depthFactor = (below + 1) ** exponent
  const isKnown = typeof generatedAt === 'number' && Number.isFinite(generatedAt)
  return { seconds: isKnown ? Math.max(0, now - generatedAt) / 1_000 : null, depth: below, exponent, depthFactor }
}

interface WeighedItem extends RankedItem {
  readonly depthFactor: number
}

function weighed({ now, items, depthWeight, minDepth, phases: list }: RankInput): WeighedItem[] {
  const phases = namesOfPhases(list)
  const least = minDepth ?? items.reduce((so, { depth }) => Math.min(so, soundDepth(depth)), Number.POSITIVE_INFINITY)
  return items.flatMap((item) => {
    const phase = owedPhase(item.phaseState, phases)
    if (phase === null || unrankedReason(item, phases) !== null) return []
    const { seconds, depthFactor } = stalenessOf(item, { now, depthWeight, minDepth: least })
    const effectiveStaleness = seconds === null ? null : seconds * depthFactor
    return [{ path: item.path, phase, band: bandOf(phase, phases), effectiveStaleness, depthFactor }]
  })
}

function soundDepth(depth: unknown): number {
  return typeof depth === 'number' && Number.isFinite(depth) ? depth : 0
}

function atLeastZero(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : otherwise
}

function unrankedReason(
  { phaseState, disabled, locked }: RankedInput,
  phases?: PhaseList,
): Exclude<PassedOver['reason'], 'outranked'> | null {
  const owed = owedPhase(phaseState, phases)
  if (disabled === true) return 'disabled'
  if (owed === null) return 'fresh'
  if (locked === true) return 'locked'
  const status = phaseState[owed] ?? 'stale'
  return status === 'pending' ? null : status
}

function mostOwedFirst(a: WeighedItem, b: WeighedItem): number {
  return a.band - b.band || moreStaleFirst(a, b)
}

function byPath(a: WeighedItem, b: WeighedItem): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

function moreStaleFirst(a: WeighedItem, b: WeighedItem): number {
  if (a.effectiveStaleness === null && b.effectiveStaleness === null) return b.depthFactor - a.depthFactor
  if (a.effectiveStaleness === null) return -1
  if (b.effectiveStaleness === null) return 1
  return b.effectiveStaleness - a.effectiveStaleness
}
