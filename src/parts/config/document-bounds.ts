import { setImmediate as nextTurn } from 'node:timers/promises'
import { Lexer } from 'yaml'

export const bytesMax = 1024 * 1024
/** The most tokens of a file. A thousand schedules with ten fields each have about eighty thousand. */
export const tokensMax = 100_000
/** How many tokens are read before the event loop gets its turn, so that a worker goes on meanwhile. */
export const tokensInTurnMax = 5_000
/** The deepest nesting. A schedule has about eight levels, and its payload a few more. */
export const levelsMax = 50

/** The tokens of a text, or the bound that it exceeds. They are counted before they are parsed, and only up to the bound: parsing a megabyte of names, or a thousand levels, would block a worker. */
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

/** Lexer tokens that are not part of the text: the begin or end of a document, a scalar or a broken flow. */
const signs: ReadonlySet<string> = new Set(['\u{2}', '\u{18}', '\u{1f}'])

/** Counts nesting levels: by columns outside brackets, and by brackets. */
class Levels {
  /** The column of each open level. A list may begin in the column of the name that it belongs to, and counts as inside it. */
  readonly #begins: number[] = []
  #brackets = 0
  /** Lists and names inside brackets without their own brackets: they are wrong, but the parser nests them. */
  #strays = 0
  #column = 0
  /** Whether the next token begins a line or an entry. */
  #isFirst = true
  /** Whether the line already has a name; a second one is nested in the first. */
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
