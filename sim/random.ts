/**
 * Luck that can be had again: the same seed gives the same draws, on every machine. The generator is sfc32, because it is
 * short, passes the usual tests, and needs nothing but 32-bit integers.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #count = 1

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    this.#c = 0x9e3779b9 | 0
    // Seeds that are neighbours begin alike; after some rounds nothing of that is left.
    for (let round = 0; round < 16; round++) this.#bits()
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    return this.#bits() / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.next() * values.length)] as Value
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return (entries.at(-1) as [Name, number])[0]
  }

  /**
   * The same weights, some of them taken away and some made heavy. A world in which everything happens now and then
   * seldom sees one thing meet another; one in which few things happen often does.
   */
  swarm<Name extends string>(weights: Readonly<Record<Name, number>>): Record<Name, number> {
    const entries = Object.entries(weights) as [Name, number][]
    return Object.fromEntries(entries.map(([name, weight]) => [name, weight * this.pick([0, 1, 1, 5])])) as Record<
      Name,
      number
    >
  }

  /** Mostly near the mean and sometimes several times as much: how long things take that nobody planned. */
  waitMs(meanMs: number): number {
    return Math.round(-Math.log(1 - this.next()) * meanMs)
  }

  #bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#count) | 0
    this.#count = (this.#count + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}
