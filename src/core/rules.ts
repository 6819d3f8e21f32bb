import { createHash } from 'node:crypto'
import { shownJson } from './json/json-shown.ts'
import { type Found, matchDifference, valueAt } from './json/matcher.ts'
import { reasonText } from './reason-text.ts'
import { changedPaths, durationIn, type Rule, type RuleAt, ruleOperators, thresholdIn, ttlMsMax } from './rule-form.ts'

/** The answer of a run, as rules see it. */
export interface RuleAnswer {
  /** The sibling that answered; `null`: the schedule itself. */
  readonly sibling: string | null
  /** The JSON of the answer; anything else has no fields. */
  readonly body: unknown
  /** The HTTP status. */
  readonly status?: number | undefined
  /** How many runs of the schedule have failed in a row, this one included. */
  readonly failures: number
  readonly durationMs?: number | undefined
}

/** What rules remember of earlier runs, and their result for the last run. Names and paths may be long, so digests are its keys. */
export interface RuleMemory {
  /** How many runs in a row have met the condition of a rule, and the last values at its first path. */
  readonly fits?: Readonly<Record<string, readonly string[]>>
  /** Digests of the last values that `changed` compares, by schedule and path. */
  readonly values?: Readonly<Record<string, string>>
  /** The last run of each sibling that was judged. */
  readonly judged?: Readonly<Record<string, number>>
  /** When rules were first judged, and the last result of each rule. */
  readonly at?: number
  readonly trail?: readonly RuleTrail[]
}

/** The result of a rule, as a clause: `fits` and acted, or why it did not act. */
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
  /** The first rule whose condition holds. */
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
/** The largest memory of a schedule: enough for any 20 rules, if each keeps less of what it saw. */
export const memoryBytesMax = 2_048
const whyLengthMax = 80

/**
 * Judges the answer of a run by the rules of a schedule. The first rule whose condition holds acts; the others are in the trail.
 *
 * This function runs in the transaction that ends the run, so it must not throw and must not be slow: patterns are judged in time
 * that grows with the text alone, and the memory is bounded whatever an endpoint answers.
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
    for (const path of changedPaths(rule.when)) values[valueKey(answer.sibling, path)] = digestOf(at(path))
    if (difference !== null) {
      trail.push({ rule: rule.name, effect: 'unfit', why: reasonText(difference, whyLengthMax) })
      continue
    }
    const key = keyOf(rule.name)
    const seen = [...(memory.fits?.[key] ?? []), shownAt(rule, at)]
    fits[key] = seen.slice(-(rule.runs ?? 1) - 1)
    const step: RuleEffect | string = won === null ? effectOf({ now, rule, seen, at }) : 'another rule came first'
    if (typeof step === 'string') trail.push({ rule: rule.name, effect: won === null ? 'unfit' : 'lost', why: step })
    else {
      won = { rule: rule.name, effect: step, reason: reasonOf(rule, seen, at) }
      trail.push({ rule: rule.name, effect: 'won', why: reasonText(won.reason, whyLengthMax) })
    }
  }
  const others = rules.filter((rule) => !own.includes(rule))
  const foreign = (memory.trail ?? []).filter(({ rule }) => others.some(({ name }) => name === rule))
  return {
    won,
    memory: boundedMemory({
      fits: { ...about(others, memory.fits, ({ name }) => [keyOf(name)]), ...fits },
      values: { ...about(others, memory.values, valueKeys), ...values },
      judged: about(rules, memory.judged, ({ sibling }) => (sibling === undefined ? [] : [keyOf(sibling)])),
      at: memory.at ?? now,
      trail: [...trail, ...foreign],
    }),
  }
}

/** Whether an answer of a sibling, or a later one, has been judged. */
export function isJudged({ judged }: RuleMemory, sibling: string, run: number): boolean {
  return (judged?.[keyOf(sibling)] ?? 0) >= run
}

/** The memory with the run of a sibling that was judged last. */
export function withJudged(memory: RuleMemory, sibling: string, run: number): RuleMemory {
  return { ...memory, judged: { ...memory.judged, [keyOf(sibling)]: run } }
}

/** The entries that are about these rules: those about rules that are gone are forgotten. */
function about<Value>(
  rules: readonly Rule[],
  from: Readonly<Record<string, Value>> = {},
  keysOf: (rule: Rule) => readonly string[],
): Record<string, Value> {
  const entries = Object.entries(from)
  if (entries.length === 0) return {}
  const keys = new Set(rules.flatMap(keysOf))
  return Object.fromEntries(entries.filter(([key]) => keys.has(key)))
}

function factAt(answer: RuleAnswer, path: string): Found {
  const facts = { $status: answer.status, $failures: answer.failures, $durationMs: answer.durationMs }
  if (!Object.hasOwn(facts, path)) return valueAt(answer.body, path)
  const value = facts[path as keyof typeof facts]
  return value === undefined ? null : { value }
}

/** `changed` compares digests: an answer may be long, and the memory is not. */
function digestOf(found: Found): string {
  const text = found === null ? 'missing' : `is ${JSON.stringify(found.value)}`
  return createHash('sha256').update(text).digest('base64url').slice(0, 10)
}

function valueKey(sibling: string | null, path: string): string {
  return keyOf(sibling ?? '', path)
}

function valueKeys({ when, sibling }: Rule): string[] {
  return changedPaths(when).map((path) => valueKey(sibling ?? null, path))
}

const keyLength = 8

function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, keyLength)
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

/** What a rule whose condition holds does now; as a clause, why it does nothing. */
function effectOf({ now, rule: { runs = 1, then }, seen, at }: Fitting): RuleEffect | string {
  if (seen.length < runs) return `its condition has held for ${seen.length} of ${runs} runs in a row`
  const { everyMs, pauseMs, ttlMs } = then
  if (everyMs !== undefined) return { kind: 'interval', ms: everyMs, ttlMs: ttlMs ?? ttlMsDefault.interval }
  if (pauseMs !== undefined) return { kind: 'pause', until: now + pauseMs }
  if (then.at === undefined) return { kind: 'clear' }
  // If `now` applied at every run that meets the condition, one run would start after the other
  // without a pause.
  if (then.at === 'now' && seen.length > runs) return 'it requested a run when its condition began to hold'
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
  if (Number.isNaN(base)) return `${at.field} is not an instant with an offset`
  const minutes = at.plusMinutes === undefined ? 0 : thresholdIn(at.plusMinutes, factOf)
  if (minutes === null || !Number.isFinite(minutes)) return 'plusMinutes names no number in the answer'
  const instant = Math.round(base + minutes * 60_000)
  return Math.abs(instant) > 8.64e15 ? 'the instant is out of range' : instant
}

/** Shrinks the memory to its size limit: first the words of the trail are dropped, then the trail, then the values that rules saw. */
export function boundedMemory(memory: RuleMemory): RuleMemory {
  if (sizeOf(memory) <= memoryBytesMax) return memory
  for (const shorter of [
    { ...memory, trail: shortened(memory.trail, 24) },
    { ...memory, trail: [] },
  ]) {
    if (sizeOf(shorter) <= memoryBytesMax) return shorter
  }
  const fits = Object.fromEntries(Object.entries(memory.fits ?? {}).map(([name, seen]) => [name, seen.map(() => '')]))
  const least = { ...memory, trail: [], fits }
  // Only rules of an older version, which compared more values, need more than that.
  return sizeOf(least) <= memoryBytesMax ? least : { judged: memory.judged ?? {}, at: memory.at ?? 0 }
}

function shortened(trail: readonly RuleTrail[] = [], length: number): RuleTrail[] {
  return trail.map((one) => ({ ...one, why: reasonText(one.why, length) }))
}

function sizeOf(memory: RuleMemory): number {
  return Buffer.byteLength(JSON.stringify(memory))
}
