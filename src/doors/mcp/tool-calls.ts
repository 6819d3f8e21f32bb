import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import { operations } from '../../table.ts'
import { toolName } from './tool-sets.ts'

const verbs: ReadonlyMap<string, AnyOperation> = new Map(
  operations.flatMap((verb) =>
    [commandOf(verb), ...(verb.aliases ?? [])].map((words) => [words.join(' '), verb] as const),
  ),
)

/** A whole command with no more than flags that have a plain value: a mark of punctuation follows it. */
const command = /(?<![\w/.'"-])belfry ([a-z][a-z-]*(?: [a-z][a-z-]*)*)((?: --[a-z-]+ [\w-]+)*)(?=[`.,;:)]|$)/g

/**
 * Puts the tools of a server in place of the commands that a text for people names: a model has no shell. A command whose
 * tool is not offered stays, for a person to type.
 */
export function withToolCalls(text: string, offered: ReadonlySet<string>): string {
  return text.replace(command, (found, words: string, flags: string) => {
    const verb = verbs.get(words)
    if (verb === undefined || !offered.has(toolName(verb))) return found
    const input = inputOf(flags, verb)
    if (input === null) return found
    return Object.keys(input).length === 0 ? toolName(verb) : `${toolName(verb)} ${JSON.stringify(input)}`
  })
}

/** Null where a flag is none of the verb's fields. */
function inputOf(flags: string, { input }: AnyOperation): Readonly<Record<string, string>> | null {
  const pairs = [...flags.matchAll(/--([a-z-]+) ([\w-]+)/g)].map(([, flag = '', value = '']) => {
    return [flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), value] as const
  })
  return pairs.every(([field]) => field in input.shape) ? Object.fromEntries(pairs) : null
}
