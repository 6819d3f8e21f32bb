import { commandOf } from '../../../operations/operation.ts'
import { operations } from '../../../table.ts'
import { localCommands } from '../commands/local-commands.ts'

/** The value of `--store` after a command where it may stand alone, such as `trust`: elsewhere it needs a value. */
export const ofStoreFlag = '--of-store'

/** Short forms: `explain` knows its subject by the id's form, `help` and `version` are also words, and `--store` may stand alone. */
export function shortened(typed: readonly string[]): readonly string[] {
  const word = firstWord(typed)
  const before = typed.slice(0, Math.max(word, 0))
  const [first, second, ...rest] = typed.slice(before.length)
  if (first === 'help') return [...before, ...typed.slice(word + 1), '--help']
  if (first === 'version' && second === undefined) return ['--version']
  if (localCommands.some(({ name, storeAlone }) => name === first && storeAlone !== undefined))
    return withStoreAlone(typed, word)
  const meant = withLastWord(first, second)
  return meant === null ? typed : [...before, ...meant, ...rest]
}

/** `explain r-11` means `explain run r-11`. */
function withLastWord(first: string | undefined, second: string | undefined): readonly string[] | null {
  const commands = operations
    .filter(({ meantBy }) => meantBy !== undefined)
    .map((operation) => ({ words: commandOf(operation), meantBy: operation.meantBy }))
    .filter(({ words }) => words[0] === first)
  if (second === undefined || second.startsWith('-') || commands.some(({ words }) => words.at(-1) === second))
    return null
  const meant = commands.find(({ meantBy }) => meantBy?.test(second) === true)
  return meant === undefined ? null : [...meant.words, second]
}

const flagWithValue = /^--(store|schema|namespace|server|token-file)$/

/** The index of the command's first word: store and server flags may come before it. */
function firstWord(typed: readonly string[]): number {
  return typed.findIndex((each, at) => !each.startsWith('-') && !flagWithValue.test(typed[at - 1] ?? ''))
}

/** Before the command, `--store` takes a value as everywhere; after it, it may stand alone. */
function withStoreAlone(typed: readonly string[], word: number): readonly string[] {
  return typed.flatMap((each, at) => {
    if (at < word || !/^--store(=|$)/.test(each)) return [each]
    const next = typed[at + 1]
    const isAlone = each === '--store' && (next === undefined || next.startsWith('-'))
    return isAlone ? [ofStoreFlag] : [ofStoreFlag, each]
  })
}
