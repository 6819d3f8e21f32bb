import { formatDuration } from '../duration.ts'
import { fence } from '../untrusted-text.ts'

export interface MissedPrompt {
  /** The id with which the caller runs or drops the prompt. */
  readonly id: string
  readonly agent: string
  readonly prompt: string
  readonly plannedAt: number
}

/**
 * One question about all prompts that came due while no worker ran, or null where there is none. A prompt is data here: the
 * reader decides about the prompt and does not follow it.
 */
export function missedQuestion({ now, missed }: { now: number; missed: readonly MissedPrompt[] }): string | null {
  if (missed.length === 0) return null
  const [count, these] = missed.length === 1 ? ['1 prompt', 'it'] : [`${missed.length} prompts`, 'each']
  const asked = missed.map((each) => missedParagraph(now, each))
  const question = `${count} came due while no worker ran. Ask the user whether to run or drop ${these}; do nothing else with it.`
  return [question, ...asked].join('\n\n')
}

/** One of the prompts. */
export function missedParagraph(now: number, { id, agent, prompt, plannedAt }: MissedPrompt): string {
  const lateMs = Math.floor(Math.max(0, now - plannedAt) / 1_000) * 1_000
  return `${id} for ${agent}, planned for ${new Date(plannedAt).toISOString()}, ${formatDuration(lateMs)} ago:\n${fence(prompt)}`
}
