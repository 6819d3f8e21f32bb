import { beforeEach, describe, expect, test } from 'vitest'
import { typeParsers } from '../../../src/store/postgres/database.ts'
import { type Connection, Talk, type TalkOptions } from '../../../src/store/postgres/talk.ts'
import type { Row } from '../../../src/store/statement.ts'

interface Sent {
  readonly text: string
  answer: (rows?: Row[]) => void
  fail: (error: unknown) => void
}

/** A server that says nothing until it is told to, and remembers what it was sent. */
class SilentServer implements Connection {
  readonly sent: Sent[] = []

  query({ text }: { text: string }): Promise<{ rows: Row[] }> {
    return new Promise((resolve, reject) => {
      this.sent.push({ text, answer: (rows = []) => resolve({ rows }), fail: reject })
    })
  }

  get texts(): string[] {
    return this.sent.map(({ text }) => text)
  }

  answerAll(): void {
    for (const { answer } of this.sent) answer()
  }
}

const insert = { text: 'insert into t values (1)' }
const look = { text: 'select 1' }
const lostConnection = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
const refusal = Object.assign(new Error('duplicate key'), { code: '23505', severity: 'ERROR' })

let server: SilentServer

function talkWith(options: Partial<TalkOptions> = {}): Talk {
  return new Talk(server, { place: 'the server', types: typeParsers, begin: 'begin', ...options })
}

/** Long enough for whatever follows from what has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

beforeEach(() => {
  server = new SilentServer()
})

describe('what need not be waited for is sent at once:', () => {
  test('the beginning with the first statement, and one whose rows nobody reads with the one that follows', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    const asked = talk.ask(look)
    expect(server.texts).toEqual(['begin', insert.text, look.text])
    server.answerAll()
    await asked
  })

  test('the last statement with the commit, which has happened only when all of them are answered', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    let isCommitted = false
    const committed = talk.commit().then(() => {
      isCommitted = true
    })
    expect(server.texts).toEqual(['begin', insert.text, 'commit'])
    server.sent[2]?.answer()
    await settled()
    expect(isCommitted).toBe(false)
    server.answerAll()
    await committed
  })

  test('but not on a connection that somebody lends, which may send one thing at a time only', async () => {
    const talk = talkWith({ begin: null })
    const told = talk.tell(insert)
    let isAnswered = false
    void told.then(() => {
      isAnswered = true
    })
    await settled()
    expect([server.texts, isAnswered]).toEqual([[insert.text], false])
    server.answerAll()
    await told
  })
})

test('what only looked and locked is rolled back, because a commit would wait for the disk', async () => {
  const talk = talkWith()
  const asked = talk.ask({ text: 'select 1 from q for update' })
  server.answerAll()
  await asked
  const ended = talk.commit()
  expect(server.texts.at(-1)).toBe('rollback')
  server.answerAll()
  await ended
})

describe('a statement that nobody waited for and that failed', () => {
  test('fails the one that was waited for, with its own error', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    const asked = talk.ask(look)
    const [begun, inserted, looked] = server.sent
    begun?.answer()
    inserted?.fail(refusal)
    looked?.fail(Object.assign(new Error('transaction is aborted'), { code: '25P02', severity: 'ERROR' }))
    await expect(asked).rejects.toBe(refusal)
  })

  test('fails the commit, which the server answers as if all were well', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    const committed = talk.commit()
    const [begun, inserted, commit] = server.sent
    begun?.answer()
    inserted?.fail(refusal)
    commit?.answer()
    await expect(committed).rejects.toBe(refusal)
  })
})

describe('a connection that breaks off', () => {
  const failAll = () => {
    for (const { fail } of server.sent) fail(lostConnection)
  }

  test('before the commit was sent has written nothing', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    const asked = talk.ask(look)
    failAll()
    await expect(asked).rejects.toMatchObject({ code: 'unavailable', message: /nothing was written/ })
  })

  test('once the commit is on its way nobody knows, also when an earlier statement was not answered', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    const committed = talk.commit()
    failAll()
    await expect(committed).rejects.toMatchObject({ code: 'commit-unknown' })
  })

  test('during a statement that is a transaction by itself nobody knows, unless it only looked', async () => {
    const written = talkWith().askAlone(insert)
    const looked = talkWith().askAlone(look)
    const looking = talkWith({ isLook: true }).askAlone({ text: 'with a as (select 1) select * from a' })
    expect(server.texts).not.toContain('begin')
    failAll()
    await Promise.all([
      expect(written).rejects.toMatchObject({ code: 'commit-unknown' }),
      expect(looked).rejects.toMatchObject({ code: 'unavailable' }),
      expect(looking).rejects.toMatchObject({ code: 'unavailable' }),
    ])
  })
})

describe('a statement that could be a transaction by itself', () => {
  test('needs no other end, and what follows it begins one', async () => {
    const talk = talkWith()
    const first = talk.askAlone(insert)
    server.answerAll()
    await first
    await talk.commit()
    expect(server.texts).toEqual([insert.text])
    const next = talk.ask(look)
    expect(server.texts).toEqual([insert.text, 'begin', look.text])
    server.answerAll()
    await next
  })

  test.each([
    ['a rehearsal', { isRehearsal: true }, ['begin', insert.text]],
    ["the caller's transaction", { begin: null }, [insert.text]],
  ])('is a part of %s', async (_of, options, texts) => {
    const asked = talkWith(options).askAlone(insert)
    expect(server.texts).toEqual(texts)
    server.answerAll()
    await asked
  })

  test('is a part of the transaction that has begun', async () => {
    const talk = talkWith()
    await talk.tell(insert)
    const asked = talk.askAlone(insert)
    expect(server.texts).toEqual(['begin', insert.text, insert.text])
    server.answerAll()
    await asked
  })
})

describe('the last statement of a transaction', () => {
  test('is sent with the commit, and what follows it begins another one', async () => {
    const talk = talkWith()
    await talk.tell(look)
    const last = talk.askLast(insert)
    expect(server.texts).toEqual(['begin', look.text, insert.text, 'commit'])
    server.sent[2]?.answer([{ id: 1 }])
    server.answerAll()
    expect(await last).toEqual([{ id: 1 }])
    await talk.commit()
    const next = talk.ask(look)
    expect(server.texts.slice(4)).toEqual(['begin', look.text])
    server.answerAll()
    await next
  })

  test('is answered when it is committed', async () => {
    let isAnswered = false
    const last = talkWith()
      .askLast(insert)
      .then(() => {
        isAnswered = true
      })
    for (const { answer } of server.sent.slice(0, 2)) answer()
    await settled()
    expect(isAnswered).toBe(false)
    server.answerAll()
    await last
  })

  test('that breaks off may have been committed', async () => {
    const last = talkWith().askLast(insert)
    for (const { fail } of server.sent) fail(lostConnection)
    await expect(last).rejects.toMatchObject({ code: 'commit-unknown' })
  })

  test('that is refused was not', async () => {
    const last = talkWith().askLast(insert)
    server.sent[1]?.fail(refusal)
    server.answerAll()
    await expect(last).rejects.toBe(refusal)
  })

  test.each([
    ['a rehearsal', { isRehearsal: true }, ['begin', insert.text]],
    ["the caller's transaction", { begin: null }, [insert.text]],
  ])('commits nothing of %s', async (_of, options, texts) => {
    const asked = talkWith(options).askLast(insert)
    expect(server.texts).toEqual(texts)
    server.answerAll()
    await asked
  })
})
