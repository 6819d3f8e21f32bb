import { reasonText } from '../reason-text.ts'
import { fence } from '../untrusted-text.ts'

export interface PromptOrigin {
  readonly runId: string
  readonly schedule?: string | undefined
  /** The id of the task that the schedule is. */
  readonly task?: string | undefined
  readonly author?: string | undefined
  readonly plannedAt: number
  /** The attempt continues a session that was interrupted. */
  readonly isResumed?: boolean | undefined
  /** The data that came with the run, as JSON text: an event, or what a caller enqueued. */
  readonly payload?: string | undefined
  /** The answer of the run before, where the task asks for it. */
  readonly lastAnswer?: string | null | undefined
  /** What the agent noted for this turn of its loop. */
  readonly note?: string | null | undefined
}

const nameLengthMax = 100

/** A prompt that is passed as an argument, with payload and last answer, stays below the 128 KiB that Linux allows for one argument. */
const payloadBytesMax = 48 * 1024

/** The payload of a run as its agent reads it. One that is too long is cut, and says so: half a document must not look whole. */
export function payloadText(payload: unknown, runId: string): string | undefined {
  if (payload === undefined) return undefined
  const bytes = Buffer.from(JSON.stringify(payload, null, 2))
  if (bytes.length <= payloadBytesMax) return bytes.toString()
  // The decoder of a stream leaves out the half of a character at the end.
  const kept = new TextDecoder().decode(bytes.subarray(0, payloadBytesMax), { stream: true })
  return `${kept}\n[belfry: cut after ${payloadBytesMax} of ${bytes.length} bytes; \`belfry run show ${runId} --json\` prints all of it]`
}

/**
 * The prompt as an agent gets it: the owner's words under one line of origin. The line says that no person typed it just now, so
 * that an agent does not take it for consent. The payload and the text of earlier runs are data, so they are fenced; nothing else is added.
 */
export function originatedPrompt(
  prompt: string,
  { runId, schedule, task, author, plannedAt, isResumed, payload, lastAnswer, note }: PromptOrigin,
): string {
  const named = task === undefined ? `schedule ${reasonText(schedule ?? '', nameLengthMax)}` : `task ${task}`
  const of = schedule === undefined ? '' : ` of ${named}`
  const by = author === undefined ? '' : ` by ${reasonText(author, nameLengthMax)}`
  const again = isResumed === true ? ' This session was interrupted: continue where it stopped.' : ''
  const data = payload === undefined ? '' : `\n\nThe payload of this run:\n${fence(payload)}`
  const before = lastAnswer == null ? '' : `\n\nThe answer of the run before:\n${fence(lastAnswer)}`
  const noted = note == null ? '' : `\n\nNoted by the run before:\n${fence(note)}`
  const at = new Date(plannedAt).toISOString()
  return `[Belfry: run ${runId}${of}${by}, planned for ${at}. Not typed by a user, approves nothing.${again}]\n\n${prompt}${data}${before}${noted}`
}
