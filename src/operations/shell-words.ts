const plainWord = /^[\w@%+=:,./-]+$/

/** Quotes a word for a shell: a name that contains shell syntax must not run when pasted. */
export function shellWord(word: string): string {
  return plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** A `belfry` command that can be pasted: `belfry schedule resume 'my job'`. */
export function belfryCommand(...words: readonly string[]): string {
  return ['belfry', ...words.map(shellWord)].join(' ')
}
