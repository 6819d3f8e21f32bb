import { owedPhase, type Phase, type PhaseState } from './phases.ts'

export interface RankedInput {
  readonly path: string
  readonly depth: number
  /** The weight of this item's depth; default 1. */
  readonly emphasis?: number | undefined
  /** When it was last generated; null if never. */
  readonly generatedAt: number | null
  readonly disabled?: boolean | undefined
  readonly locked?: boolean | undefined
  readonly phaseState: PhaseState
}

export interface RankInput {
  readonly now: number
  readonly items: readonly RankedInput[]
  readonly depthWeight: number
}

export interface RankedItem {
  readonly path: string
  readonly phase: Phase
  /** Later phases come first: finishing one item is worth more than beginning another. */
  readonly band: number
  /** Seconds since it was generated, weighted by depth; null if it never was, which comes first in its band. */
  readonly effectiveStaleness: number | null
}

const bands: Readonly<Record<Phase, number>> = { critic: 1, builder: 2, architect: 3 }

/** The items with work left, most urgent first. */
export function rankItems(input: RankInput): RankedItem[] {
  return weighed(input)
    .sort(mostOwedFirst)
    .map(({ path, phase, band, effectiveStaleness }) => ({ path, phase, band, effectiveStaleness }))
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
  const passedOver = others.map((item) => ({ path: item.path, reason: unrankedReason(item) ?? ('outranked' as const) }))
  return { selected, passedOver }
}

interface WeighedItem extends RankedItem {
  readonly depthFactor: number
}

function weighed({ now, items, depthWeight }: RankInput): WeighedItem[] {
  const minDepth = items.reduce((least, { depth }) => Math.min(least, depth), Number.POSITIVE_INFINITY)
  return items.flatMap((item) => {
    const phase = owedPhase(item.phaseState)
    if (phase === null || unrankedReason(item) !== null) return []
    const depthFactor = (item.depth - minDepth + 1) ** (depthWeight * (item.emphasis ?? 1))
    const effectiveStaleness = item.generatedAt === null ? null : ((now - item.generatedAt) / 1_000) * depthFactor
    return [{ path: item.path, phase, band: bands[phase], effectiveStaleness, depthFactor }]
  })
}

function unrankedReason({
  phaseState,
  disabled,
  locked,
}: RankedInput): Exclude<PassedOver['reason'], 'outranked'> | null {
  const owed = owedPhase(phaseState)
  if (disabled === true) return 'disabled'
  if (owed === null) return 'fresh'
  if (locked === true) return 'locked'
  const status = phaseState[owed]
  return status === 'pending' ? null : status
}

function mostOwedFirst(a: WeighedItem, b: WeighedItem): number {
  return a.band - b.band || moreStaleFirst(a, b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
}

function moreStaleFirst(a: WeighedItem, b: WeighedItem): number {
  if (a.effectiveStaleness === null && b.effectiveStaleness === null) return b.depthFactor - a.depthFactor
  if (a.effectiveStaleness === null) return -1
  if (b.effectiveStaleness === null) return 1
  return b.effectiveStaleness - a.effectiveStaleness
}
