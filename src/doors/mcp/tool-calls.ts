import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import { operations } from '../../table.ts'
import { toolName } from './tool-sets.ts'

const verbs: ReadonlyMap<string, AnyOperation> = new Map(
  operations.flatMap((verb) =>
    [commandOf(verb), ...(verb.aliases ?? [])].map((words) => [words.join(' '), verb] as const),
  ),
)

/** A whole command with only plain flags, followed by punctuation. */
const command = /(?<![\w/.'"-])belfry ([a-z][a-z-]*(?: [a-z][a-z-]*)*)((?: --[a-z-]+ [\w-]+)*)(?=[`.,;:)]|$)/g

/** Replaces commands in a text by tool calls: a model has no shell. A command without an offered tool stays for a person. */
export function withToolCalls(text: string, offered: ReadonlySet<string>): string {
  return text.replace(command, (found, words: string, flags: string) => {
    const verb = verbs.get(words)
    if (verb === undefined || !offered.has(toolName(verb))) return found
    const input = inputOf(flags, verb)
    if (input === null) return found
    return Object.keys(input).length === 0 ? toolName(verb) : `${toolName(verb)} ${JSON.stringify(input)}`
  })
}

/** Null when a flag is no field of the verb. */
function inputOf(flags: string, { input }: AnyOperation): Readonly<Record<string, string>> | null {
  const pairs = [...flags.matchAll(/--([a-z-]+) ([\w-]+)/g)].map(([, flag = '', value = '']) => {
    return [flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), value] as const
  })
  return pairs.every(([field]) => field in input.shape) ? Object.fromEntries(pairs) : null
}
