/** The root: no text has begun. */
const root = 0

/**
 * Searches many texts at once in a text that is read character by character (Aho-Corasick). Each character costs the same few
 * steps, however long or similar the searched texts are. Comparing text by text could cost the product of their lengths, which
 * an attacker who writes one of the texts could provoke.
 *
 * A node stands for a common beginning of some texts. Trees of this size are numbers in arrays, not objects.
 */
export class Trie {
  /** The character that leads to a node. */
  readonly #sign: Uint16Array
  readonly #firstChild: Int32Array
  readonly #nextSibling: Int32Array
  readonly #length: Int32Array
  /** The longest other beginning that is a suffix of the node's: where to continue when the next character does not fit. */
  readonly #fallback: Int32Array
  /** The longest text that is a suffix of the node's beginning, by its number; -1 where there is none. */
  readonly #ended: Int32Array
  /** The longest suffix of a node's beginning, possibly all of it, that is a beginning and not yet a whole text. */
  readonly #open: Int32Array
  /** The children of the root, for the most common characters. */
  readonly #fromRoot = new Int32Array(128)
  #size = 1

  constructor(texts: readonly string[]) {
    const sizeMax = texts.reduce((size, text) => size + text.length, 1)
    this.#sign = new Uint16Array(sizeMax)
    this.#firstChild = new Int32Array(sizeMax)
    this.#nextSibling = new Int32Array(sizeMax)
    this.#length = new Int32Array(sizeMax)
    this.#fallback = new Int32Array(sizeMax)
    this.#ended = new Int32Array(sizeMax).fill(-1)
    this.#open = new Int32Array(sizeMax)
    for (const [number, text] of texts.entries()) this.#add(text, number)
    this.#link()
  }

  /** The node after one more character. */
  next(node: number, sign: number): number {
    for (let at = node; at !== root; at = this.#at(this.#fallback, at)) {
      const child = this.#childOf(at, sign)
      if (child !== root) return child
    }
    // A shortcut for nearly all text, which contains no secret.
    return sign < this.#fromRoot.length ? this.#at(this.#fromRoot, sign) : this.#childOf(root, sign)
  }

  /** The number of the longest text that has ended here; -1 when none has. */
  ended(node: number): number {
    return this.#at(this.#ended, node)
  }

  /** How many of the last read characters may be the beginning of a text. */
  openLength(node: number): number {
    return this.#at(this.#length, this.#at(this.#open, node))
  }

  /** The node after giving up the longest open beginning. */
  shorter(node: number): number {
    return this.#at(this.#fallback, this.#at(this.#open, node))
  }

  #add(text: string, number: number): void {
    let node = root
    for (let at = 0; at < text.length; at++) {
      const sign = text.charCodeAt(at)
      node = this.#childOf(node, sign) || this.#addChild(node, sign)
    }
    this.#ended[node] = number
  }

  #addChild(parent: number, sign: number): number {
    const child = this.#size++
    this.#sign[child] = sign
    this.#length[child] = this.#at(this.#length, parent) + 1
    this.#nextSibling[child] = this.#at(this.#firstChild, parent)
    this.#firstChild[parent] = child
    if (parent === root && sign < this.#fromRoot.length) this.#fromRoot[sign] = child
    return child
  }

  /** Level by level, because a node's fallback is shorter than itself. */
  #link(): void {
    const order = new Int32Array(this.#size)
    let known = 1
    for (let at = 0; at < known; at++) {
      const node = this.#at(order, at)
      for (let child = this.#at(this.#firstChild, node); child !== root; child = this.#at(this.#nextSibling, child)) {
        order[known++] = child
        const fallback = node === root ? root : this.next(this.#at(this.#fallback, node), this.#at(this.#sign, child))
        this.#fallback[child] = fallback
        if (this.#ended[child] === -1) this.#ended[child] = this.#at(this.#ended, fallback)
        this.#open[child] = this.#firstChild[child] === root ? this.#at(this.#open, fallback) : child
      }
    }
  }

  #childOf(node: number, sign: number): number {
    let child = this.#at(this.#firstChild, node)
    while (child !== root && this.#sign[child] !== sign) child = this.#at(this.#nextSibling, child)
    return child
  }

  #at(numbers: Int32Array | Uint16Array, index: number): number {
    return numbers[index] as number
  }
}
