/** Something that would let a thing go on: what, what a person types for it, and when it comes by itself. */
export interface Unblock {
  readonly what: string
  /** The command line that does it, where one does. */
  readonly command: string | null
  /** When it happens by itself, where that is known. */
  readonly at: number | null
}

/** What somebody has to do. */
export function byHand(what: string, ...words: readonly string[]): Unblock {
  return { what, command: words.length === 0 ? null : commandLine(words), at: null }
}

/** What comes without anybody's help. */
export function byItself(what: string, at: number | null = null): Unblock {
  return { what, command: null, at }
}

const plainWord = /^[\w@%+=:,./-]+$/

/** A command line as a person would type it, names in quotes where a shell would take them apart. */
export function commandLine(words: readonly string[]): string {
  return ['belfry', ...words.map((word) => (plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))].join(
    ' ',
  )
}
