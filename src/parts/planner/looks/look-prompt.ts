import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fence } from '../../../core/untrusted-text.ts'
import type { LookFacts } from './look-facts.ts'

const levelsMax = 4

/** The text of a prompt file: beside this module in the sources, at the top of the build. */
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
  /** Of the prompt file: an analysis records which version it used. */
  readonly hash: string
}

/** What leaves this machine at the beginning of a look. What others wrote stands only inside a fence. */
export function lookPrompt(facts: LookFacts, system: string = promptText('look')): LookPrompt {
  const { responses, siblingResponses: _, siblings, health, hints, lastHints, lastLook, ...plain } = facts
  const untrusted = { siblings, errors: health['24h'].errors, hints, lastHints, lastLook }
  const counts = Object.entries(health).map(([span, { runs, failures, atLeast }]) => [
    span,
    { runs, failures, atLeast },
  ])
  const user = [
    'The schedule, as a person wrote it, and its health:',
    JSON.stringify({ ...plain, health: Object.fromEntries(counts), answers: responses.length }, null, 1),
    'What others wrote about it:',
    fence(JSON.stringify(untrusted)),
    responses.length === 0
      ? 'No run of it has answered yet.'
      : 'Read its answers with get_latest_response or get_response_history.',
  ].join('\n')
  return { system, user, hash: createHash('sha256').update(system).digest('hex').slice(0, 12) }
}
