/** The end of a text that may be of any length. */
export class Tail {
  readonly #lengthMax: number
  #text = ''
  #isCut = false

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax
  }

  get text(): string {
    this.#cut(this.#lengthMax)
    return this.#text
  }

  /** Whether earlier text was dropped. The value is the same before and after a call of `text`. */
  get isCut(): boolean {
    return this.#isCut || this.#text.length > this.#lengthMax
  }

  add(piece: string): void {
    this.#text += piece
    // Cutting at each piece would copy the whole for every few bytes.
    if (this.#text.length > 2 * this.#lengthMax) this.#cut(this.#lengthMax)
  }

  #cut(length: number): void {
    if (this.#text.length <= length) return
    this.#isCut = true
    const kept = this.#text.slice(-length)
    // Half a character at the beginning is dropped too.
    this.#text = /^[\uDC00-\uDFFF]/.test(kept) ? kept.slice(1) : kept
  }
}
