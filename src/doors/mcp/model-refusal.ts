import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { ErrorCode } from '../../core/error.ts'
import { fence, visible } from '../../core/untrusted-text.ts'
import { forStrangers, isForeseen } from '../../operations/unforeseen-error.ts'
import { isPlain } from './label.ts'
import { modelData } from './model-answer.ts'
import type { Detail } from './tools.ts'

/** What a model should do about an error without its own hint. */
const hints: { readonly [Code in ErrorCode]: string } = {
  failure: 'Call store_doctor, or ask a person to read the log of the server. A second try may help.',
  invalid: 'Correct the fields that the message names, and call again.',
  'not-found': 'List what exists, and call again with its name or id.',
  conflict: 'Read its current state, then decide whether to call again.',
  unavailable: 'Call again in a few seconds.',
  'commit-unknown': 'Check whether it was done before you call again.',
  'not-allowed': 'Ask a person to do it, or to start the server with a wider scope.',
  unauthenticated: 'Ask a person for a valid token.',
  'too-many': 'Wait a little, then call again.',
  'too-many-changes': 'Wait until the limit lifts.',
  quota: 'Wait for the reset that the message names, or ask a person to raise the quota.',
}

export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  readonly details?: object
}

/** Rewords the commands in a text for a caller. */
export type Wording = (text: string) => string

/** An error for a model: always with what to do, and without the text of unexpected errors. */
export function refusalOf(thrown: unknown): Refusal {
  const { code, message, hint = hints[code], details } = forStrangers(thrown)
  return { code, message, hint, ...(details !== undefined && { details }) }
}

interface Refusing {
  readonly detail: Detail
  readonly wording?: Wording
  readonly onUnforeseen?: ((error: unknown) => void) | undefined
}

/** The same errors as at every door, as an answer that a model can read. The message is enough for most callers; details are given on request. Texts of others that the message or hint quotes are fenced. */
export function refused(thrown: unknown, { detail, wording, onUnforeseen }: Refusing): CallToolResult {
  if (!isForeseen(thrown)) onUnforeseen?.(thrown)
  const { error, quoted, details } = unquoted(refusalOf(thrown), wording)
  const texts = modelData({ error }, { ...quoted, ...(detail === 'full' && details !== undefined && { details }) })
  return { isError: true, content: texts.map((text) => ({ type: 'text', text })) }
}

/** The same as one text, where the protocol allows no more. */
export function refusedText(refusal: Refusal, wording: Wording): string {
  const { error, quoted } = unquoted(refusal, wording)
  const said = `${error.message} ${error.hint}`
  return Object.keys(quoted).length === 0 ? said : `${said}\n${fence(JSON.stringify(quoted))}`
}

interface Unquoted extends Pick<Refusal, 'details'> {
  readonly error: Omit<Refusal, 'details'>
  /** Its quotations of others, complete. */
  readonly quoted: Partial<Pick<Refusal, 'message' | 'hint'>>
}

function unquoted({ code, message, hint, details }: Refusal, wording: Wording = (text) => text): Unquoted {
  const foreign = foreignIn(details, code)
  const [said, advice] = [withoutForeign(message, foreign), withoutForeign(hint, foreign)]
  const quoted = { ...(said !== message && { message }), ...(advice !== hint && { hint }) }
  return {
    error: { code, message: visible(worded(said, wording)), hint: visible(worded(advice, wording)) },
    quoted,
    ...(details !== undefined && { details }),
  }
}

/** A text in double quotes, or a word of a command that needs quotes in a shell. */
const quotation = /"(?:[^"\\]|\\.)*"|(?<=^|[\s=(])'(?:[^']|'\\'')*'/gs

/** Rewords the commands in a text. Quoted text is a user's name and stays. Fencing comes first: reworded text could not be matched with its source. */
function worded(text: string, wording: Wording): string {
  let said = ''
  let end = 0
  for (const { 0: found, index } of text.matchAll(quotation)) {
    said += wording(text.slice(end, index)) + found
    end = index + found.length
  }
  return said + wording(text.slice(end))
}

/** Both are searched in the original text: a name with a quotation mark must not hide another name from the search. */
function withoutForeign(text: string, foreign: readonly string[]): string {
  const quotations = [...text.matchAll(quotation)].filter(([found]) => !isPlain(found.slice(1, -1)))
  const spans = quotations.map(({ 0: found, index }) => [index, index + found.length] as const)
  for (const each of foreign) {
    for (let at = text.indexOf(each); at !== -1; at = text.indexOf(each, at + each.length))
      spans.push([at, at + each.length])
  }
  let said = ''
  let end = 0
  for (const [from, to] of spans.sort(([one], [other]) => one - other)) {
    if (from >= end) said += `${text.slice(end, from)}[see the fence]`
    end = Math.max(end, to)
  }
  return said + text.slice(end)
}

/** The texts of others among an error's details: reasons, and every text that is no label. The problems of an input, and why a run was left as it is, are Belfry's own sentences and quote the input. */
function foreignIn(details: unknown, code: ErrorCode): string[] {
  if (typeof details === 'string') return code === 'invalid' || isPlain(details) ? [] : [details]
  if (typeof details !== 'object' || details === null) return []
  return Object.entries(details)
    .flatMap(([field, value]) => {
      if (/reason$/i.test(field) && typeof value === 'string') return [value]
      return field === 'why' ? [] : foreignIn(value, code)
    })
    .filter((text) => text !== '')
}
