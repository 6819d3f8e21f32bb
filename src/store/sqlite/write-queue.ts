import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dials, pause, systemClock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import type { Step } from '../statement.ts'

/** What the queue needs from its connection. None of this waits. */
export interface Writer {
  readonly place: string
  /**
   * Begins a transaction. Returns whether it has begun: another connection may be writing. Throws where the file
   * cannot be written at all.
   */
  begin(): boolean
  drive<Result>(step: Step<Result>): Result
  commit(): void
  rollBack(): void
}

export interface WriteOptions {
  /** The write is rolled back at its end, and returns what it would have returned. */
  readonly isRehearsal?: boolean
}

interface Write {
  readonly verb: () => Step<unknown>
  readonly isRehearsal: boolean
  readonly askedAt: number
  /** The write has a transaction of its own. */
  isAlone: boolean
  readonly answer: (result: never) => void
  readonly refuse: (error: unknown) => void
}

/** Other work of this process gets a turn after this long, however much there is to write. */
const groupMsMax = 10
const busyWaitMsMax = 8
const busyGiveUpMs = 30_000

/**
 * Writes happen in call order, and all writes of one turn of the event loop are committed together: a commit waits for the disk,
 * which takes as long as writing a hundred rows and does not depend on their number. No write waits for a group to form, and
 * every caller is answered after the commit.
 *
 * A group runs from `begin immediate` to `commit` without an await, so nothing of this process can come between its statements,
 * and the file is never locked across a turn of the loop.
 */
export class WriteQueue {
  readonly #writer: Writer
  readonly #clock: Dials
  #waiting: Write[] = []
  #isAwake = false

  constructor(writer: Writer, clock: Dials) {
    this.#writer = writer
    this.#clock = clock
  }

  add<Result>(verb: () => Step<Result>, { isRehearsal = false }: WriteOptions = {}): Promise<Result> {
    return new Promise<Result>((answer, refuse) => {
      const askedAt = this.#clock.monotonic()
      this.#waiting.push({ verb, isRehearsal, isAlone: isRehearsal, askedAt, answer, refuse })
      if (this.#isAwake) return
      this.#isAwake = true
      // The group begins when all code of this turn has run and has queued its writes.
      queueMicrotask(() => process.nextTick(() => void this.#run()))
    })
  }

  async #run(): Promise<void> {
    for (let tries = 1; this.#waiting.length > 0; tries++) {
      if (this.#writeGroup()) {
        tries = 0
        if (this.#waiting.length > 0) await nextTurn()
      } else {
        this.#refuseOld(tries)
        // Another process is writing. A busy timeout of seconds would block the loop for seconds, so the wait is asynchronous.
        await pause(systemClock, Math.random() * Math.min(busyWaitMsMax, tries))
      }
    }
    this.#isAwake = false
  }

  /** Returns whether a group was written. */
  #writeGroup(): boolean {
    try {
      if (!this.#writer.begin()) return false
    } catch (error) {
      for (const { refuse } of this.#waiting.splice(0)) refuse(error)
      return true
    }
    const done = this.#drive()
    if (done === null) return true
    try {
      if (done[0]?.write.isRehearsal) this.#writer.rollBack()
      else this.#writer.commit()
      for (const { write, result } of done) write.answer(result as never)
    } catch (error) {
      for (const { write } of done) write.refuse(error)
    }
    return true
  }

  /** The writes to be committed; null where they were rolled back. */
  #drive(): { write: Write; result: unknown }[] | null {
    const startedAt = systemClock.monotonic()
    const done: { write: Write; result: unknown }[] = []
    while (this.#waiting.length > 0) {
      const write = this.#waiting[0] as Write
      const isFirst = done.length === 0
      if (!isFirst && (write.isAlone || done[0]?.write.isAlone)) break
      if (!isFirst && systemClock.monotonic() - startedAt > groupMsMax) break
      this.#waiting.shift()
      try {
        done.push({ write, result: this.#writer.drive(write.verb()) })
      } catch (error) {
        this.#writer.rollBack()
        if (isFirst) write.refuse(error)
        else this.#separate([...done.map((each) => each.write), write])
        return null
      }
    }
    return done
  }

  /** One of the writes failed and rolled back the others too: each is repeated alone. */
  #separate(writes: readonly Write[]): void {
    for (const write of writes) write.isAlone = true
    this.#waiting.unshift(...writes)
  }

  #refuseOld(tries: number): void {
    const now = this.#clock.monotonic()
    const isOld = ({ askedAt }: Write) => now - askedAt > busyGiveUpMs
    for (const { refuse } of this.#waiting.filter(isOld)) refuse(stillLocked(this.#writer.place, tries))
    this.#waiting = this.#waiting.filter((write) => !isOld(write))
  }
}

function stillLocked(place: string, tries: number): BelfryError {
  return new BelfryError('unavailable', `${place} was locked by another process for ${busyGiveUpMs / 1000} s.`, {
    hint: 'A program that keeps a write transaction open on this file must finish first.',
    details: { tries },
  })
}
