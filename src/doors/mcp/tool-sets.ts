import { reaches, type Scope } from '../../operations/caller-scope.ts'
import { nearest } from '../../operations/input/nearest-name.ts'
import { type Problem, quoted } from '../../operations/input/refuse-input.ts'
import { type AnyOperation, verbWords } from '../../operations/operation.ts'
import { nouns, operations } from '../../table.ts'

/** `schedule_clear_hints`. */
export function toolName({ noun, verb }: Pick<AnyOperation, 'noun' | 'verb'>): string {
  return `${noun}_${verbWords(verb).replaceAll('-', '_')}`
}

/** The verbs that list this door. */
export const offeredVerbs: readonly AnyOperation[] = operations.filter(({ doors }) => doors.mcp === true)

const allNames = offeredVerbs.map(toolName)

/**
 * What a model gets unless a person asks for more. A tool costs tokens in every conversation, also in those that never
 * use it, so that these are few: a new noun is a set of its own.
 */
export const defaultTools: readonly string[] = offeredVerbs
  .filter(({ defaultTool }) => defaultTool !== undefined)
  .map(toolName)

/** Tools by the name of their set: the default, all, and one set for each noun. */
export const toolSets: Readonly<Record<string, readonly string[]>> = {
  default: defaultTools,
  all: allNames,
  ...Object.fromEntries(
    Object.keys(nouns)
      .map((noun) => [noun, offeredVerbs.filter((verb) => verb.noun === noun).map(toolName)] as const)
      .filter(([, names]) => names.length > 0),
  ),
}

/**
 * The tools that a text such as `default,routine,run_output` names. A set means what the scope reaches of it; a tool that is
 * named by itself and is beyond the scope is a problem, for its absence would be a riddle.
 */
export function chosenTools(
  text: string | undefined,
  { scope, field, problems }: { readonly scope: Scope; readonly field: string; readonly problems: Problem[] },
): ReadonlySet<string> {
  const chosen = new Set<string>()
  for (const word of (text ?? 'default').split(',').map((part) => part.trim())) {
    const names = Object.hasOwn(toolSets, word) ? toolSets[word] : undefined
    if (names !== undefined) for (const name of names) chosen.add(name)
    else if (!allNames.includes(word)) problems.push(unknown(word, field))
    else if (!reaches(scope, neededFor(word))) problems.push(beyond(word, field, scope))
    else chosen.add(word)
  }
  return chosen
}

function neededFor(name: string): Scope {
  return offeredVerbs.find((verb) => toolName(verb) === name)?.scope ?? 'admin'
}

function unknown(word: string, field: string): Problem {
  const meant = nearest(word, [...Object.keys(toolSets), ...allNames])
  const sets = Object.keys(toolSets).join(', ')
  const expected = meant === undefined ? `sets (${sets}) or names of tools, with commas between them` : meant
  return { field, problem: word === '' ? 'has an empty name' : `names ${quoted(word)}, which does not exist`, expected }
}

function beyond(name: string, field: string, scope: Scope): Problem {
  const needs = neededFor(name)
  return { field, problem: `names ${name}, which needs the scope ${needs}`, expected: `a tool for the scope ${scope}` }
}
