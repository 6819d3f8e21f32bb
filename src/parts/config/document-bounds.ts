import { setImmediate as nextTurn } from 'node:timers/promises'
import { Lexer } from 'yaml'

export const bytesMax = 1024 * 1024
/** Words, signs and spaces of a file. A thousand schedules with ten fields each have about eighty thousand. */
export const tokensMax = 100_000
/** How many of them are read before the rest of the process has its turn: a worker goes on meanwhile. */
export const tokensInTurnMax = 5_000
/** Levels inside each other. A schedule has about eight, and its payload a few more. */
export const levelsMax = 50

/**
 * The words and signs of a text, or what it has more of than a file may have. They are counted before anything is made of them, and
 * no further than the bound: what a parser makes of a megabyte of names, or of a thousand levels, keeps a worker from everything else.
 */
export async function tokensOf(text: string): Promise<readonly string[] | 'too-many' | 'too-deep'> {
  const tokens: string[] = []
  const levels = new Levels()
  for (const token of new Lexer().lex(text)) {
    tokens.push(token)
    if (tokens.length > tokensMax) return 'too-many'
    if (tokens.length % tokensInTurnMax === 0) await nextTurn()
    levels.add(token)
    if (levels.count > levelsMax) return 'too-deep'
  }
  return tokens
}

/** What the lexer puts between the parts of the text itself: where a document, a scalar or a broken flow begins or ends. */
const signs: ReadonlySet<string> = new Set(['\u{2}', '\u{18}', '\u{1f}'])

/** Counts the levels at which a text has arrived: by columns outside of brackets, and by brackets. */
class Levels {
  /** Where each open level begins. A list may begin in the column of the name that it belongs to, and is inside of it. */
  readonly #begins: number[] = []
  #brackets = 0
  /** Lists and names inside brackets without brackets of their own, which are wrong, and which a parser nests all the same. */
  #strays = 0
  #column = 0
  /** Whether the next word begins something: a line, or an entry. */
  #isFirst = true
  /** Whether the line has had a name; a second one lies inside of the first. */
  #hasName = false

  get count(): number {
    return this.#begins.length + this.#brackets + this.#strays
  }

  add(token: string): void {
    if (signs.has(token)) return
    if (token.trim() !== '') this.#word(token)
    const lineEnd = token.lastIndexOf('\n')
    this.#column = lineEnd === -1 ? this.#column + token.length : token.length - lineEnd - 1
    if (lineEnd === -1) return
    this.#isFirst = true
    this.#hasName = false
  }

  #word(token: string): void {
    const isEntry = token === '-' || token === '?'
    if (this.#brackets > 0 || token === '[' || token === '{') {
      this.#flow(token, isEntry)
      return
    }
    if (isEntry || this.#isFirst || (token === ':' && this.#hasName))
      this.#begin(2 * this.#column + (token === '-' ? 1 : 0))
    if (token === ':') this.#hasName = true
    this.#isFirst = isEntry
  }

  #flow(token: string, isEntry: boolean): void {
    if (token === '[' || token === '{') this.#brackets++
    else if (token === ']' || token === '}') this.#brackets--
    else if (isEntry) this.#strays++
    if (this.#brackets === 0) this.#strays = 0
    this.#isFirst = false
  }

  #begin(place: number): void {
    while ((this.#begins.at(-1) ?? -1) > place) this.#begins.pop()
    if (this.#begins.at(-1) !== place) this.#begins.push(place)
  }
}
