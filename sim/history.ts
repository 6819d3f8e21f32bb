const shownMax = 30

/** What happened, step by step: the last steps in words, all of them as one number, and how often each kind occurred. */
export class History {
  readonly counts = new Map<string, number>()
  readonly #last: string[] = []
  #hash = 0x811c9dc5
  steps = 0

  /** Adds a step; its kind is counted, its words are shown when something breaks. */
  step(kind: string, words: string): void {
    this.steps++
    this.count(kind)
    this.#write(`${this.steps} ${words}`)
  }

  /** Adds what came of the step that is under way. */
  note(words: string): void {
    this.#write(`    ${words}`)
  }

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  /** Equal for equal histories. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  get last(): readonly string[] {
    let from = this.#last.length - 1
    for (let steps = 0; from > 0; from--) {
      if (!this.#last[from]?.startsWith(' ') && ++steps === shownMax) break
    }
    return this.#last.slice(Math.max(0, from))
  }

  #write(line: string): void {
    let hash = this.#hash
    for (let index = 0; index < line.length; index++) hash = Math.imul(hash ^ line.charCodeAt(index), 0x01000193)
    this.#hash = hash
    this.#last.push(line)
    if (this.#last.length > 8 * shownMax) this.#last.splice(0, 4 * shownMax)
  }
}
