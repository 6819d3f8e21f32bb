import { createHash } from 'node:crypto'
import { shownJson } from './json/json-shown.ts'
import { type Found, matchDifference, valueAt } from './json/matcher.ts'
import { reasonText } from './reason-text.ts'
import { durationIn, type Rule, type RuleAt, ruleOperators, thresholdIn, ttlMsMax } from './rule-form.ts'

/** The answer of a run, as rules see it. */
export interface RuleAnswer {
  /** The sibling that answered; `null`: the schedule itself. */
  readonly sibling: string | null
  /** The JSON of the answer; anything else has no fields. */
  readonly body: unknown
  /** The HTTP status. */
  readonly status?: number | undefined
  /** How many of its runs have failed in a row by now. */
  readonly failures: number
  readonly durationMs?: number | undefined
}

/** What rules know of the runs before, and what they made of the last one. */
export interface RuleMemory {
  /** How many runs in a row have fitted a rule, and the last values at its first path. */
  readonly fits?: Readonly<Record<string, readonly string[]>>
  /** Digests of the last values that `changed` compares, by whose they are and path. */
  readonly values?: Readonly<Record<string, string>>
  /** The last run of each sibling that was judged. */
  readonly judged?: Readonly<Record<string, number>>
  /** When rules were last judged, and what became of each. */
  readonly at?: number
  readonly trail?: readonly RuleTrail[]
}

/** What became of a rule, in a clause: `fits` and acted, or why not. */
export interface RuleTrail {
  readonly rule: string
  readonly effect: 'won' | 'lost' | 'unfit'
  readonly why: string
}

export type RuleEffect =
  | { readonly kind: 'interval'; readonly ms: number; readonly ttlMs: number }
  | { readonly kind: 'oneshot'; readonly at: number; readonly ttlMs: number }
  | { readonly kind: 'pause'; readonly until: number }
  | { readonly kind: 'clear' }

export interface JudgedRules {
  /** The first rule that fits. */
  readonly won: { readonly rule: string; readonly effect: RuleEffect; readonly reason: string } | null
  readonly memory: RuleMemory
}

export interface RulesInput {
  readonly now: number
  readonly rules: readonly Rule[]
  readonly memory: RuleMemory
  readonly answer: RuleAnswer
}

const ttlMsDefault = { interval: 3_600_000, oneshot: 1_800_000 }
/** What a schedule may remember: 20 rules that see long values fit in it, each with less. */
export const memoryBytesMax = 2_048
const whyLengthMax = 80

/**
 * Judges the answer of a run by the rules of a schedule. The first rule that fits acts; the others are in the trail.
 *
 * It is asked in the transaction that ends the run, so it must not throw and must not be slow: patterns are judged in time that grows
 * with the text alone, and the memory is bounded whatever an endpoint answers.
 */
export function judgeRules({ now, rules, memory, answer }: RulesInput): JudgedRules {
  const at = (path: string) => factAt(answer, path)
  const hasChanged = (path: string) => {
    const known = memory.values?.[valueKey(answer.sibling, path)]
    return known === undefined ? undefined : known !== digestOf(at(path))
  }
  const own = rules.filter(({ sibling }) => (sibling ?? null) === answer.sibling)
  const values: Record<string, string> = {}
  const fits: Record<string, readonly string[]> = {}
  const trail: RuleTrail[] = []
  let won: JudgedRules['won'] = null
  for (const rule of own) {
    const difference = matchDifference(rule.when, { operators: ruleOperators, at, hasChanged })
    for (const path of changedPaths(rule)) values[valueKey(answer.sibling, path)] = digestOf(at(path))
    if (difference !== null) {
      trail.push({ rule: rule.name, effect: 'unfit', why: reasonText(difference, whyLengthMax) })
      continue
    }
    const seen = [...(memory.fits?.[rule.name] ?? []), shownAt(rule, at)]
    fits[rule.name] = seen.slice(-(rule.runs ?? 1) - 1)
    const step: RuleEffect | string = won === null ? effectOf({ now, rule, seen, at }) : 'another rule came first'
    if (typeof step === 'string') trail.push({ rule: rule.name, effect: won === null ? 'unfit' : 'lost', why: step })
    else {
      won = { rule: rule.name, effect: step, reason: reasonOf(rule, seen, at) }
      trail.push({ rule: rule.name, effect: 'won', why: reasonText(won.reason, whyLengthMax) })
    }
  }
  const others = rules.filter((rule) => !own.includes(rule))
  const kept = Object.fromEntries(
    others.flatMap(({ name }) => (memory.fits?.[name] ? [[name, memory.fits[name]]] : [])),
  )
  const foreign = (memory.trail ?? []).filter(({ rule }) => others.some(({ name }) => name === rule))
  return {
    won,
    memory: bounded({
      ...memory,
      fits: { ...kept, ...fits },
      values: { ...memory.values, ...values },
      at: now,
      trail: [...trail, ...foreign],
    }),
  }
}

function factAt(answer: RuleAnswer, path: string): Found {
  const facts = { $status: answer.status, $failures: answer.failures, $durationMs: answer.durationMs }
  if (!Object.hasOwn(facts, path)) return valueAt(answer.body, path)
  const value = facts[path as keyof typeof facts]
  return value === undefined ? null : { value }
}

/** `changed` compares digests: an answer may be long, and the memory is not. */
function changedPaths({ when }: Rule): string[] {
  return Object.keys(when).filter((path) => Object.hasOwn(Object(when[path]), 'changed'))
}

function digestOf(found: Found): string {
  const text = found === null ? 'missing' : `is ${JSON.stringify(found.value)}`
  return createHash('sha256').update(text).digest('base64url').slice(0, 10)
}

function valueKey(sibling: string | null, path: string): string {
  return sibling === null ? path : `${sibling} ${path}`
}

const shownLengthMax = 24

function shownAt({ when }: Rule, at: (path: string) => Found): string {
  const found = at(Object.keys(when)[0] ?? '')
  return reasonText(found === null ? 'missing' : shownJson(found.value), shownLengthMax)
}

/** `queue_depth was 212, 230, 251`. */
function reasonOf({ when, runs = 1 }: Rule, seen: readonly string[], at: (path: string) => Found): string {
  const [first = '', ...paths] = Object.keys(when)
  const others = paths.map((path) => {
    const found = at(path)
    return `${path} was ${found === null ? 'missing' : shownJson(found.value)}`
  })
  return reasonText([`${first} was ${seen.slice(-runs).join(', ')}`, ...others].join('; '), 200)
}

interface Fitting {
  readonly now: number
  readonly rule: Rule
  readonly seen: readonly string[]
  readonly at: (path: string) => Found
}

/** What a rule that fits does now; as a clause, why it does nothing. */
function effectOf({ now, rule: { runs = 1, then }, seen, at }: Fitting): RuleEffect | string {
  if (seen.length < runs) return `it fits ${seen.length} of ${runs} runs in a row`
  const { everyMs, pauseMs, ttlMs } = then
  if (everyMs !== undefined) return { kind: 'interval', ms: everyMs, ttlMs: ttlMs ?? ttlMsDefault.interval }
  if (pauseMs !== undefined) return { kind: 'pause', until: now + pauseMs }
  if (then.at === undefined) return { kind: 'clear' }
  // Asked at every run that fits, `now` would start one run after the other without a rest.
  if (then.at === 'now' && seen.length > runs) return 'it has asked for a run when it began to fit'
  const instant = instantOf(then.at, now, at)
  if (typeof instant === 'string') return instant
  if (instant < now) return `${new Date(instant).toISOString()} has passed`
  if (instant >= now + ttlMsMax) return `${new Date(instant).toISOString()} is over a day away`
  return { kind: 'oneshot', at: instant, ttlMs: ttlMs ?? ttlMsDefault.oneshot }
}

function instantOf(at: RuleAt, now: number, factOf: (path: string) => Found): number | string {
  if (at === 'now') return now
  if (typeof at === 'string') return now + (durationIn(at.slice(1)) ?? 0)
  const value = factOf(at.field)?.value
  const base =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(base)) return `${at.field} is no instant with an offset`
  const minutes = at.plusMinutes === undefined ? 0 : thresholdIn(at.plusMinutes, factOf)
  if (minutes === null || !Number.isFinite(minutes)) return 'plusMinutes names no number in the answer'
  const instant = Math.round(base + minutes * 60_000)
  return Math.abs(instant) > 8.64e15 ? 'the instant is out of range' : instant
}

/** The memory within its size: first the words of the trail go, then what `changed` compares. */
function bounded(memory: RuleMemory): RuleMemory {
  for (const shorter of [memory, { ...memory, trail: shortened(memory.trail, 24) }, { ...memory, trail: [] }]) {
    if (sizeOf(shorter) <= memoryBytesMax) return shorter
  }
  const fits = Object.fromEntries(Object.entries(memory.fits ?? {}).map(([name, seen]) => [name, seen.map(() => '…')]))
  const least = { ...memory, trail: [], fits }
  return sizeOf(least) <= memoryBytesMax ? least : { judged: {}, at: memory.at ?? 0 }
}

function shortened(trail: readonly RuleTrail[] = [], length: number): RuleTrail[] {
  return trail.map((one) => ({ ...one, why: reasonText(one.why, length) }))
}

function sizeOf(memory: RuleMemory): number {
  return Buffer.byteLength(JSON.stringify(memory))
}
