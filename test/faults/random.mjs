/** Numbers that a seed settles: which worker, which moment, how long. What the machine makes of them is its own matter. */
export class Random {
  #state

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /**
   * @param {number} least
   * @param {number} most
   */
  between(least, most) {
    return least + this.next() * (most - least)
  }

  /**
   * A whole number, both ends included.
   * @param {number} least
   * @param {number} most
   */
  whole(least, most) {
    return Math.floor(this.between(least, most + 1))
  }

  /**
   * @template Item
   * @param {readonly Item[]} items
   * @returns {Item | undefined}
   */
  pick(items) {
    return items[Math.floor(this.next() * items.length)]
  }
}
