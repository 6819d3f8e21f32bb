/** A longer line is skipped: keeping it would let a program fill the memory. */
const lineLengthMax = 4 * 1024 ** 2

/** Splits a text that comes in pieces into lines. */
export class LineSplitter {
  #rest = ''
  #isTooLong = false

  /** The line that has not ended yet. */
  get rest(): string {
    return this.#rest
  }

  /** The lines that end in this piece. */
  add(piece: string): string[] {
    const lines: string[] = []
    let from = 0
    for (let at = piece.indexOf('\n'); at !== -1; at = piece.indexOf('\n', from)) {
      const part = piece.slice(from, at)
      // Nearly every line begins and ends in the same piece.
      const line = this.#rest === '' && !this.#isTooLong ? withoutReturn(part) : this.#taken(part)
      from = at + 1
      if (line !== null) lines.push(line)
    }
    this.#add(piece.slice(from))
    return lines
  }

  /** The last line, where no line break ends it. */
  end(): string {
    return this.#taken('') ?? ''
  }

  #add(part: string): void {
    if (this.#rest.length + part.length > lineLengthMax) this.#isTooLong = true
    this.#rest = this.#isTooLong ? '' : this.#rest + part
  }

  #taken(part: string): string | null {
    this.#add(part)
    const line = this.#isTooLong ? null : withoutReturn(this.#rest)
    this.#rest = ''
    this.#isTooLong = false
    return line
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
