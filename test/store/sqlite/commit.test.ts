import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts'
import { openHandle, type SqliteHandle } from '../../../src/store/sqlite/driver.ts'
import { all, both, one, type Step } from '../../../src/store/statement.ts'

const insert = both('test insert', 'insert into belfry.word (word) values ($1)')
const list = both('test list', 'select word from belfry.word order by word')

/** A database whose next commit can be made to fail, as on a disk that does not answer. */
function brittle() {
  const handle = openHandle(':memory:')
  handle.exec('create table word (word text primary key)')
  let breaks = false
  const proxy = new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (name !== 'exec' || given[0] !== 'commit' || !breaks) return value.apply(target, given)
        breaks = false
        throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
      }
    },
  }) as SqliteHandle
  const database = new SqliteDatabase(proxy, 'memory:', systemClock)
  onTestFinished(() => database.close())
  return {
    database,
    write: (word: string) => database.write(() => one(insert, word)),
    words: async () => (await database.read(() => all(list))).map((row) => row.word),
    breakNextCommit() {
      breaks = true
    },
  }
}

test('a commit that fails is answered as neither yes nor no, and the next step goes on', async () => {
  const { write, words, breakNextCommit } = brittle()
  breakNextCommit()
  await expect(write('a')).rejects.toMatchObject({ code: 'commit-unknown' })
  await write('b')
  expect(await words()).toEqual(['b'])
})

test('all that was to be committed together hears that the commit failed', async () => {
  const { write, words, breakNextCommit } = brittle()
  breakNextCommit()
  const answers = await Promise.allSettled([write('a'), write('b'), write('c')])
  const codes = answers.map((answer) => (answer.status === 'rejected' ? answer.reason.code : 'done'))
  const kept = await words()
  expect(codes).toContain('commit-unknown')
  for (const [index, word] of ['a', 'b', 'c'].entries()) expect(kept.includes(word)).toBe(codes[index] === 'done')
})

test('a step that is refused takes nothing back of what others asked for in the same turn', async () => {
  const { write, words } = brittle()
  const answers = await Promise.allSettled([write('a'), write('a'), write('b'), write('b'), write('c')])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(await words()).toEqual(['a', 'b', 'c'])
})

test('a rehearsal among writes of the same turn sees those before it, leaves nothing, and takes nothing back', async () => {
  const { database, write, words } = brittle()
  const rehearsed = function* (): Step<unknown[]> {
    yield* one(insert, 'rehearsed')
    return (yield* all(list)).map((row) => row.word)
  }
  const [, seen, , again] = await Promise.all([
    write('a'),
    database.rehearse(rehearsed),
    write('b'),
    database.rehearse(rehearsed),
    write('c'),
  ])
  expect(seen).toEqual(['a', 'rehearsed'])
  expect(again).toEqual(['a', 'b', 'rehearsed'])
  expect(await words()).toEqual(['a', 'b', 'c'])
})
