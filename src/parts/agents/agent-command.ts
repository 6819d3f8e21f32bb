import type { AgentProfile } from './profile-form.ts'

export interface AgentCall {
  readonly prompt: string
  /** The file with the prompt, if the profile passes the prompt in a file. */
  readonly promptFile: string | null
  readonly model?: string | undefined
  /** The session to continue, or the id for a new session. */
  readonly session?: string | undefined
  readonly isResumed?: boolean | undefined
}

/** Placeholders for groups of arguments in `argv`; a group without a placeholder comes last. */
const places = ['{model}', '{resume}'] as const

/** The program and its arguments for one call. */
export function commandOf(profile: AgentProfile, call: AgentCall): [string, ...string[]] {
  const { argv, model, session, resume, prompt } = profile
  const sessionArgs = call.isResumed === true ? resume : call.session === undefined ? undefined : session
  const groups = {
    '{model}': call.model === undefined ? [] : (model ?? []),
    '{resume}': sessionArgs ?? [],
  }
  const [program, ...words] = argv
  const unplaced = places.filter((place) => !words.includes(place)).flatMap((place) => groups[place])
  const placed = words.flatMap((word) =>
    Object.hasOwn(groups, word) ? groups[word as (typeof places)[number]] : [word],
  )
  const mark = { argument: '{prompt}', file: '{promptFile}', stdin: null }[prompt]
  const last = mark === null || words.some((word) => word.includes(mark)) ? [] : [mark]
  return [program, ...[...placed, ...unplaced, ...last].map((word) => filled(word, profile, call))]
}

function filled(word: string, { prompt }: AgentProfile, call: AgentCall): string {
  const values: Readonly<Record<string, string | null | undefined>> = {
    '{model}': call.model,
    '{session}': call.session,
    '{promptFile}': call.promptFile,
    // Only where the profile passes the prompt as an argument: every user who lists processes can read arguments.
    '{prompt}': prompt === 'argument' ? call.prompt : undefined,
  }
  return word.replace(/\{(?:model|session|promptFile|prompt)\}/g, (mark) => values[mark] ?? mark)
}
