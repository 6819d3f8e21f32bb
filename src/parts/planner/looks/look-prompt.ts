import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fence } from '../../../core/untrusted-text.ts'
import type { LookFacts } from './look-facts.ts'

const levelsMax = 4

/** The text of a prompt file. In the sources the file is beside this module; in a build it is at the top. */
function promptText(name: string): string {
  for (let level = 0; level <= levelsMax; level++) {
    const file = new URL(`./${'../'.repeat(level)}prompts/${name}.md`, import.meta.url)
    if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  }
  throw new Error(`the prompt ${name} is missing`)
}

export interface LookPrompt {
  readonly system: string
  readonly user: string
  /** The hash of the prompt file: an analysis records which version it used. */
  readonly hash: string
}

/**
 * The data that leaves this machine at the beginning of a look. Only what a person wrote stands outside the fence: an agent may have
 * chosen the name, the description or the reason of a pause.
 */
export function lookPrompt(facts: LookFacts, system: string = promptText('look')): LookPrompt {
  const { responses, siblingResponses: _, siblings, hints, lastHints, lastLook, ...rest } = facts
  const { schedule, description, descriptionBy, paused, holds = [], health, ...plain } = rest
  const isPersons = descriptionBy === 'person'
  const untrusted = {
    schedule,
    ...(!isPersons && { description }),
    ...(paused !== null && { pauseReason: paused.reason }),
    ...(holds.length > 0 && { holdNotes: holds.map(({ note }) => note) }),
    ...{ siblings, hints, lastHints, lastLook },
  }
  const own = {
    ...(isPersons && { description }),
    ...plain,
    paused: paused === null ? null : { until: paused.until, by: paused.by },
    holds: holds.map(({ reason, until }) => ({ reason, until })),
    health,
    answers: responses.length,
  }
  const user = [
    'The schedule, as a person wrote it, and its health:',
    JSON.stringify(own, null, 1),
    'What others wrote about it:',
    fence(JSON.stringify(untrusted)),
    responses.length === 0
      ? 'No run of it has answered yet.'
      : 'Read its answers with get_latest_response or get_response_history.',
  ].join('\n')
  return { system, user, hash: createHash('sha256').update(system).digest('hex').slice(0, 12) }
}
