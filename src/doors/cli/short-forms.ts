/** What `trust --store` stands for: everywhere else the flag needs a value, and here it may stand alone. */
export const storeTrusted = '--of-store'

/** Short forms: what to explain shows by its form, two words stand for flags that every tool has, and a flag may stand alone. */
export function shortened(typed: readonly string[]): readonly string[] {
  const [first, second, ...rest] = typed
  if (first === 'help') return [...typed.slice(1), '--help']
  if (first === 'version' && second === undefined) return ['--version']
  const isOther = second !== undefined && !second.startsWith('-') && second !== 'schedule' && second !== 'run'
  if (first !== 'explain' || !isOther) return trustingStore(typed)
  return [first, /^r-[0-9a-z]+$/.test(second) ? 'run' : 'schedule', second, ...rest]
}

const flagWithValue = /^--(store|schema|namespace|server|token-file)$/

/** Before the word, `--store` names a store as it does everywhere; behind it, it says that the store is to be trusted. */
function trustingStore(typed: readonly string[]): readonly string[] {
  const word = typed.findIndex((each, at) => !each.startsWith('-') && !flagWithValue.test(typed[at - 1] ?? ''))
  if (typed[word] !== 'trust') return typed
  return typed.flatMap((each, at) => {
    if (at < word || !/^--store(=|$)/.test(each)) return [each]
    const next = typed[at + 1]
    const isAlone = each === '--store' && (next === undefined || next.startsWith('-'))
    return isAlone ? [storeTrusted] : [storeTrusted, each]
  })
}
