import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { WriteQueue } from '../../../src/store/sqlite/write-queue.ts'
import type { Step } from '../../../src/store/statement.ts'

/** A connection that notes what is asked of it. What was written stands in `kept` once it is committed. */
class Connection {
  readonly place = 'a file'
  readonly said: string[] = []
  readonly kept: string[] = []
  /** How often it will say that somebody else is writing. */
  busyTimes = 0
  fails: { begin?: Error; commit?: Error } = {}
  #written: string[] = []

  begin(): boolean {
    if (this.fails.begin !== undefined) throw this.fails.begin
    if (this.busyTimes-- > 0) return false
    this.said.push('begin')
    return true
  }

  drive<Result>(step: Step<Result>): Result {
    const turn = step.next()
    if (!turn.done) throw new Error('These verbs have no statements.')
    this.#written.push(String(turn.value))
    this.said.push(String(turn.value))
    return turn.value
  }

  commit(): void {
    this.said.push('commit')
    if (this.fails.commit !== undefined) throw this.fails.commit
    this.kept.push(...this.#written)
    this.#written = []
  }

  rollBack(): void {
    this.said.push('roll back')
    this.#written = []
  }
}

function scene({ clock = systemClock }: { clock?: Pick<typeof systemClock, 'now' | 'monotonic'> } = {}) {
  const connection = new Connection()
  return { connection, queue: new WriteQueue(connection, clock) }
}

function verb(name: string, act: () => void = () => undefined): () => Step<string> {
  // biome-ignore lint/correctness/useYield: a verb without statements of its own.
  return function* () {
    act()
    return name
  }
}

const failing = (name: string) =>
  verb(name, () => {
    throw new Error(`${name} cannot be written`)
  })

describe('writes of one turn', () => {
  it('share a commit, in the order in which they were asked for', async () => {
    const { connection, queue } = scene()
    const answers = ['a', 'b', 'c'].map((name) => queue.add(verb(name)))
    expect(connection.said).toEqual([])
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'])
    expect(connection.said).toEqual(['begin', 'a', 'b', 'c', 'commit'])
  })

  it('are those too that somebody asks for who only had to be woken', async () => {
    const { connection, queue } = scene()
    const later = Promise.resolve()
      .then(() => undefined)
      .then(() => queue.add(verb('b')))
    await Promise.all([queue.add(verb('a')), later])
    expect(connection.said).toEqual(['begin', 'a', 'b', 'commit'])
  })

  it('are answered when they are committed, and not before', async () => {
    const { connection, queue } = scene()
    const kept = ['a', 'b'].map((name) => queue.add(verb(name)).then(() => [...connection.kept]))
    expect(await Promise.all(kept)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it('are all unknown when their commit fails', async () => {
    const { connection, queue } = scene()
    connection.fails.commit = new Error('who knows')
    const answers = await Promise.allSettled([queue.add(verb('a')), queue.add(verb('b'))])
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason)).toEqual([
      connection.fails.commit,
      connection.fails.commit,
    ])
    expect(connection.kept).toEqual([])
  })

  it('are all refused when nothing can be written at all, and later ones are tried anew', async () => {
    const { connection, queue } = scene()
    connection.fails.begin = new Error('closed')
    const answers = await Promise.allSettled([queue.add(verb('a')), queue.add(verb('b'))])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    connection.fails = {}
    expect(await queue.add(verb('c'))).toBe('c')
    expect(connection.kept).toEqual(['c'])
  })

  it('leave a turn to everybody else when they take long', async () => {
    const { connection, queue } = scene()
    const untilLong = () => {
      const from = systemClock.monotonic()
      while (systemClock.monotonic() - from < 11);
    }
    setImmediate(() => connection.said.push('somebody else'))
    await Promise.all([queue.add(verb('slow', untilLong)), queue.add(verb('next'))])
    expect(connection.said).toEqual(['begin', 'slow', 'commit', 'somebody else', 'begin', 'next', 'commit'])
  })
})

describe('a write that fails', () => {
  it('alone is rolled back, and its error told', async () => {
    const { connection, queue } = scene()
    await expect(queue.add(failing('a'))).rejects.toThrow('a cannot be written')
    expect(connection.said).toEqual(['begin', 'roll back'])
  })

  it('takes nobody with it: those who shared its transaction are done again, each by itself and in order', async () => {
    const { connection, queue } = scene()
    const answers = [verb('a'), verb('b'), failing('bad'), verb('c')].map((one) => queue.add(one))
    const settled = await Promise.allSettled(answers)
    expect(settled.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused'))).toEqual([
      'a',
      'b',
      'refused',
      'c',
    ])
    expect(connection.kept).toEqual(['a', 'b', 'c'])
    expect(connection.said.slice(0, 4)).toEqual(['begin', 'a', 'b', 'roll back'])
    expect(connection.said.slice(4, 12)).toEqual(['begin', 'a', 'commit', 'begin', 'b', 'commit', 'begin', 'roll back'])
  })
})

describe('a rehearsal', () => {
  it('answers what it would have written, is taken back, and takes nobody else’s write with it', async () => {
    const { connection, queue } = scene()
    const answers = [queue.add(verb('a')), queue.add(verb('b'), { isRehearsal: true }), queue.add(verb('c'))]
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'])
    expect(connection.kept).toEqual(['a', 'c'])
  })
})

describe('while somebody else writes', () => {
  it('writes wait together, and are written in order', async () => {
    const { connection, queue } = scene()
    connection.busyTimes = 3
    await Promise.all([queue.add(verb('a')), queue.add(verb('b'))])
    expect(connection.said).toEqual(['begin', 'a', 'b', 'commit'])
  })

  it('they give up in the end, those who have waited long and no others', async () => {
    let now = 0
    const { connection, queue } = scene({ clock: { now: () => now, monotonic: () => now } })
    connection.busyTimes = Number.POSITIVE_INFINITY
    const old = queue.add(verb('old'))
    now = 20_000
    const young = queue.add(verb('young'))
    now = 31_000
    await expect(old).rejects.toThrow('a file was locked by another process for 30 s')
    connection.busyTimes = 0
    expect(await young).toBe('young')
    expect(connection.kept).toEqual(['young'])
  })
})
