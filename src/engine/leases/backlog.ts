const halfLengthMax = 512 * 1024

/**
 * Output of an attempt that is not yet stored. It holds no more than the store would keep, the first and the last half, so that
 * neither a flood nor an hour without a store can exhaust memory; a line marks where output was dropped.
 */
export class Backlog {
  #head: string[] = []
  #headLength = 0
  #tail: string[] = []
  #tailFrom = 0
  #tailLength = 0
  #droppedLength = 0

  get length(): number {
    return this.#headLength + this.#tailLength
  }

  add(text: string): void {
    const room = this.#tailLength === 0 && this.#droppedLength === 0 ? halfLengthMax - this.#headLength : 0
    const cutAt = wholeBefore(text, room)
    if (cutAt > 0) {
      this.#head.push(text.slice(0, cutAt))
      this.#headLength += cutAt
    }
    if (cutAt < text.length) this.#addToTail(text.slice(cutAt))
  }

  /** Removes and returns all stored output. */
  take(): string {
    const dropped = this.#droppedLength === 0 ? [] : [droppedLine(this.#droppedLength)]
    const text = [...this.#head, ...dropped, ...this.#tail.slice(this.#tailFrom)].join('')
    this.#head = []
    this.#tail = []
    this.#headLength = this.#tailFrom = this.#tailLength = this.#droppedLength = 0
    return text
  }

  #addToTail(text: string): void {
    const kept = text.length > halfLengthMax ? text.slice(text.length - halfLengthMax) : text
    this.#droppedLength += text.length - kept.length
    this.#tail.push(kept)
    this.#tailLength += kept.length
    while (this.#tailLength > halfLengthMax) {
      const { length } = this.#tail[this.#tailFrom++] as string
      this.#tailLength -= length
      this.#droppedLength += length
    }
    // Compacting at each step would make many small pieces expensive.
    if (this.#tailFrom * 2 <= this.#tail.length) return
    this.#tail = this.#tail.slice(this.#tailFrom)
    this.#tailFrom = 0
  }
}

function droppedLine(length: number): string {
  return `\n[belfry: ${length} characters came faster than they could be kept]\n`
}

/** The last position at which no character is split. */
function wholeBefore(text: string, most: number): number {
  if (most >= text.length) return text.length
  const code = text.charCodeAt(most - 1)
  return code >= 0xd800 && code <= 0xdbff ? most - 1 : most
}
