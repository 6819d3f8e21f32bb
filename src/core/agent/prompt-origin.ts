import { reasonText } from '../reason-text.ts'

export interface PromptOrigin {
  readonly runId: string
  readonly schedule?: string | undefined
  readonly author?: string | undefined
  readonly plannedAt: number
  /** The attempt continues a session that was interrupted. */
  readonly isResumed?: boolean | undefined
}

const nameLengthMax = 100

/**
 * The prompt as an agent gets it: the owner's words under one line of origin. The line says that no person typed it just now, so
 * that an agent does not take it for consent. Nothing else is added.
 */
export function originatedPrompt(
  prompt: string,
  { runId, schedule, author, plannedAt, isResumed }: PromptOrigin,
): string {
  const of = schedule === undefined ? '' : ` of schedule ${reasonText(schedule, nameLengthMax)}`
  const by = author === undefined ? '' : ` by ${reasonText(author, nameLengthMax)}`
  const again = isResumed === true ? ' This session was interrupted: continue where it stopped.' : ''
  const at = new Date(plannedAt).toISOString()
  return `[Belfry: run ${runId}${of}${by}, planned for ${at}. Not typed by a user, approves nothing.${again}]\n\n${prompt}`
}
