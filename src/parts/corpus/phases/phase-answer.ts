import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { EndFacts } from '../../../core/run/expect.ts'

export type PhaseAnswer =
  | { readonly fields: ItemDocument; readonly tokens?: number }
  /** Why the answer is refused. */
  | { readonly refused: string }

const answerBytesMax = 2 * 1024 * 1024
const textKept = 100 * 1024
/** What agents say when they have nothing to say. */
const sentinels = new Set(['NO_REPLY', 'NO_CONTENT', 'HEARTBEAT_OK', 'null', 'undefined', '[object Object]'])

/** Reads what a phase answered. Nothing that is empty, a sentinel, too large or beyond the phase's own fields is taken. */
export function phaseAnswer(facts: Pick<EndFacts, 'json' | 'text'>, form: PhaseForm): PhaseAnswer {
  const given = facts.json ?? facts.text
  // Of a longer text only the end is kept, and half an answer is none.
  if (facts.json === undefined && (facts.text?.length ?? 0) >= textKept) {
    return { refused: 'the answer has over 100 KB: a program writes that much to BELFRY_RESULT_FILE' }
  }
  if (given === undefined || given === null) return { refused: 'the answer is empty' }
  const [own = ''] = form.writes
  const isBuilding = form.writes.length > 1
  const object = isRecord(given) ? given : typeof given === 'string' && isBuilding ? jsonIn(given, own) : null
  if (object !== null) return fromObject(object, form)
  if (typeof given !== 'string')
    return { refused: `the answer is ${Array.isArray(given) ? 'a list' : typeof given}, neither a text nor an object` }
  return checked({ [own]: given.trim() }, form)
}

/** The whole text, the last fenced block that fits, or what stands between the outermost braces. */
function jsonIn(text: string, own: string): Readonly<Record<string, unknown>> | null {
  const blocks = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].map(([, inside]) => inside ?? '').reverse()
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
  for (const candidate of [text, ...blocks, braces]) {
    try {
      const value: unknown = JSON.parse(candidate)
      if (isRecord(value) && (typeof value[own] === 'string' || typeof value[own.slice(1)] === 'string')) return value
    } catch {
      // The next candidate may be the one.
    }
  }
  return null
}

function fromObject(given: Readonly<Record<string, unknown>>, form: PhaseForm): PhaseAnswer {
  const { usage, ...rest } = given
  const [own = ''] = form.writes
  const bare = own.slice(1)
  const { [bare]: named, ...others } = rest
  const fields: Record<string, unknown> =
    rest[own] === undefined && named !== undefined ? { [own]: named, ...others } : rest
  const foreign = Object.keys(fields).filter((name) => name.startsWith('_') && !form.writes.includes(name))
  if (foreign.length > 0) return { refused: `the answer has ${foreign.join(', ')}, which ${form.name} may not write` }
  const free = Object.keys(fields).filter((name) => !name.startsWith('_'))
  if (free.length > 0 && form.writes.length < 2) {
    return { refused: `the answer has ${free.join(', ')}; ${form.name} writes ${form.writes.join(' and ')}` }
  }
  const tokens = tokensOf(usage)
  const answer = checked(fields, form)
  return 'refused' in answer || tokens === undefined ? answer : { ...answer, tokens }
}

function checked(fields: Readonly<Record<string, unknown>>, form: PhaseForm): PhaseAnswer {
  const [own = ''] = form.writes
  const text = fields[own]
  if (text === undefined) return { refused: `the answer has no ${own}` }
  if (typeof text !== 'string') return { refused: `${own} of the answer is no text` }
  const trimmed = text.trim()
  if (trimmed === '') return { refused: 'the answer is empty' }
  if (sentinels.has(trimmed)) return { refused: `the answer is ${trimmed}, which says that there is none` }
  const bytes = Buffer.byteLength(JSON.stringify(fields))
  if (bytes > answerBytesMax) return { refused: `the answer has ${bytes} bytes, more than ${answerBytesMax}` }
  return { fields: { ...fields, [own]: trimmed } }
}

/** Unknown is not 0. */
function tokensOf(usage: unknown): number | undefined {
  const tokens = isRecord(usage) ? usage.tokens : undefined
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0 ? tokens : undefined
}

/** What a builder that ran out of time has left in its result. */
export function partialState(facts: Pick<EndFacts, 'json'> | undefined, form: PhaseForm): ItemDocument | undefined {
  if (!form.writes.includes('_state') || !isRecord(facts?.json) || facts.json._state === undefined) return undefined
  return { _state: facts.json._state }
}
