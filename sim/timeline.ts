import type { Random } from './random.ts'

/** Something that happens at an instant, once. */
export interface Happening {
  readonly at: number
  /** Whose happening it is; what belongs to a process waits while that process is frozen, and ends with it. */
  readonly owner: Owner | null
  readonly what: string
  readonly act: () => void | Promise<void>
  isOff: boolean
}

/** A process, as far as time is concerned. */
export interface Owner {
  readonly name: string
  readonly isGone: boolean
  readonly frozenUntil: number
}

interface Entry {
  readonly happening: Happening
  readonly at: number
  readonly tie: number
}

/**
 * All that is going to happen. Of what happens at one instant luck says what comes first, which is how every order of
 * answers, alarms and wake-ups can come about.
 */
export class Timeline {
  readonly #random: Random
  readonly #heap: Entry[] = []
  now = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** How many are still to happen, those included that were called off. */
  get length(): number {
    return this.#heap.length
  }

  /** Happens after so many ms; the answer can be called off. */
  add(afterMs: number, owner: Owner | null, what: string, act: () => void | Promise<void>): Happening {
    const happening = { at: this.now + Math.max(0, Math.ceil(afterMs)), owner, what, act, isOff: false }
    this.#push(happening, happening.at)
    return happening
  }

  /** What comes next, with the time moved to it; what belongs to somebody who is gone or frozen does not come now. */
  next(): Happening | null {
    for (let entry = this.#pop(); entry !== undefined; entry = this.#pop()) {
      const { happening, at } = entry
      const { owner, isOff } = happening
      if (isOff || owner?.isGone === true) continue
      if (owner !== null && owner.frozenUntil > at) {
        this.#push(happening, owner.frozenUntil + this.#random.between(0, thawMsMax))
        continue
      }
      this.now = Math.max(this.now, at)
      return happening
    }
    return null
  }

  /** What is still to happen to this process. */
  of(owner: Owner): Happening[] {
    return this.#heap.map(({ happening }) => happening).filter((one) => one.owner === owner && !one.isOff)
  }

  #push(happening: Happening, at: number): void {
    const heap = this.#heap
    heap.push({ happening, at, tie: this.#random.next() })
    let child = heap.length - 1
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (isSooner(heap[parent] as Entry, heap[child] as Entry)) break
      swap(heap, parent, child)
      child = parent
    }
  }

  #pop(): Entry | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1
      if (left >= heap.length) return first
      const right = left + 1
      const child = right < heap.length && isSooner(heap[right] as Entry, heap[left] as Entry) ? right : left
      if (isSooner(heap[parent] as Entry, heap[child] as Entry)) return first
      swap(heap, parent, child)
      parent = child
    }
  }
}

/** A process that goes on after a freeze finds all that came meanwhile, and goes through it within so many ms. */
export const thawMsMax = 3

function isSooner(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.tie <= b.tie)
}

function swap(heap: Entry[], a: number, b: number): void {
  const held = heap[a] as Entry
  heap[a] = heap[b] as Entry
  heap[b] = held
}
