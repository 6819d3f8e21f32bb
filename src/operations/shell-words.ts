const plainWord = /^[\w@%+=:,./-]+$/

/** A word as a shell reads it back: what somebody named a thing must not become a command when it is pasted. */
export function shellWord(word: string): string {
  return plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** A command of ours as it can be pasted: `belfry schedule resume 'my job'`. */
export function belfryCommand(...words: readonly string[]): string {
  return ['belfry', ...words.map(shellWord)].join(' ')
}
