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
  /** The answer of the run before, where the task asks for it. */
  readonly lastAnswer?: string | null | undefined
  /** What the agent noted for this turn of its loop. */
  readonly note?: string | null | undefined
}

const nameLengthMax = 100

/**
 * The prompt as an agent gets it: the owner's words under one line of origin. The line says that no person typed it just now, so
 * that an agent does not take it for consent. What earlier runs said is data, and fenced; nothing else is added.
 */
export function originatedPrompt(
  prompt: string,
  { runId, schedule, task, author, plannedAt, isResumed, lastAnswer, note }: PromptOrigin,
): string {
  const named = task === undefined ? `schedule ${reasonText(schedule ?? '', nameLengthMax)}` : `task ${task}`
  const of = schedule === undefined ? '' : ` of ${named}`
  const by = author === undefined ? '' : ` by ${reasonText(author, nameLengthMax)}`
  const again = isResumed === true ? ' This session was interrupted: continue where it stopped.' : ''
  const before = lastAnswer == null ? '' : `\n\nThe answer of the run before:\n${fence(lastAnswer)}`
  const noted = note == null ? '' : `\n\nNoted by the run before:\n${fence(note)}`
  const at = new Date(plannedAt).toISOString()
  return `[Belfry: run ${runId}${of}${by}, planned for ${at}. Not typed by a user, approves nothing.${again}]\n\n${prompt}${before}${noted}`
}
