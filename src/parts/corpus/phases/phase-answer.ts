import type { ItemDocument } from '../../../core/corpus/commit-phase.ts'
import type { PhaseForm } from '../../../core/corpus/derive-phases.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { EndFacts } from '../../../core/run/expect.ts'

export type PhaseAnswer =
  | { readonly fields: ItemDocument; readonly tokens?: number }
  /** Why the answer is refused. What it used was paid for all the same. */
  | { readonly refused: string; readonly tokens?: number }

/** The largest answer of a phase. */
export const answerBytesMax = 10 * 1024 * 1024
/** Texts that agents print when they have no answer. */
const sentinels = new Set(['NO_REPLY', 'NO_CONTENT', 'HEARTBEAT_OK', 'null', 'undefined', '[object Object]'])

/**
 * Reads the answer of a phase. An answer is refused if it is empty, a sentinel or too large, or if it has fields that the phase may not
 * write.
 */
export function phaseAnswer(facts: Pick<EndFacts, 'json' | 'text' | 'incomplete'>, form: PhaseForm): PhaseAnswer {
  const given = facts.json ?? facts.text
  // An incomplete answer is refused.
  if (facts.incomplete !== undefined) return { refused: `the answer is not whole: ${facts.incomplete}` }
  if (given === undefined || given === null) return { refused: 'the answer is empty' }
  const [own = ''] = form.writes
  const isBuilding = form.writes.length > 1
  const object = isRecord(given) ? given : typeof given === 'string' && isBuilding ? jsonIn(given, own) : null
  if (object !== null) return { ...fromObject(object, form), ...tokensIn(object) }
  if (typeof given !== 'string')
    return { refused: `the answer is ${Array.isArray(given) ? 'a list' : typeof given}, neither a text nor an object` }
  if (isBuilding && isCutOff(given.trim()))
    return { refused: `the answer is JSON that is cut off or wrong: expected an object with ${own}, or plain text` }
  return checked({ [own]: given.trim() }, form)
}

const fencedObject = /^```(?:json)?[ \t]*\n\s*(\{[\s\S]*?)```/
const openObject = /```(?:json)?[ \t]*\n\s*\{(?![\s\S]*```)/

/**
 * Whether a text that has no answer was meant to be one: it starts with an object, or has a fence around an object that is never closed.
 * A model that runs out of tokens prints half of its JSON, which must not become content.
 */
function isCutOff(text: string): boolean {
  if (text.startsWith('{') || openObject.test(text)) return true
  const [, inside] = fencedObject.exec(text) ?? []
  return inside !== undefined && parsedJson(inside) === null
}

/** Null if the text is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The JSON object in a text: the whole text, else the last fenced block that fits, else the text between the outermost braces. */
function jsonIn(text: string, own: string): Readonly<Record<string, unknown>> | null {
  const blocks = [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].map(([, inside]) => inside ?? '').reverse()
  const braces = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
  for (const candidate of [text, ...blocks, braces]) {
    const value = parsedJson(candidate)
    if (isRecord(value) && (typeof value[own] === 'string' || typeof value[own.slice(1)] === 'string')) return value
  }
  return null
}

function fromObject(given: Readonly<Record<string, unknown>>, form: PhaseForm): PhaseAnswer {
  const { usage: _, ...rest } = given
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
  return checked(fields, form)
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

/** An unknown count is not 0. */
export function tokensIn(answer: unknown): { readonly tokens?: number } {
  const tokens = isRecord(answer) && isRecord(answer.usage) ? answer.usage.tokens : undefined
  return typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0 ? { tokens } : {}
}

/** The state that a builder without time left has put into its result. */
export function partialState(facts: Pick<EndFacts, 'json'> | undefined, form: PhaseForm): ItemDocument | undefined {
  if (!form.writes.includes('_state') || !isRecord(facts?.json) || facts.json._state === undefined) return undefined
  const fields = { _state: facts.json._state }
  return Buffer.byteLength(JSON.stringify(fields)) > answerBytesMax ? undefined : fields
}
