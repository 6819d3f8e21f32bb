import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import type { Store } from '../../src/store/port.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { postgresUrl } from '../postgres.ts'

const opened: Store[] = []
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-listen-'))
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
  rmSync(folder, { recursive: true, force: true })
})

async function open(kind: 'file' | 'memory' | 'postgres', clock?: TestClock): Promise<Store> {
  const url = { file: `sqlite:${join(folder, 'belfry.db')}`, memory: 'memory:', postgres: postgresUrl() }[kind]
  const store = await openStore(url, { schema: 'listen_test', allowNonDurable: true, ...(clock && { clock }) })
  opened.push(store)
  return store
}

/** Timers, sockets and requests of this process that are under way. */
const underWay = () => process.getActiveResourcesInfo().length

/** Comes when no more than so much is under way. The test runner has timers of its own, which come and go. */
async function atMost(count: number): Promise<void> {
  while (underWay() > count) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(['file', 'memory', 'postgres'] as const)('listening (%s)', (kind) => {
  it('with an injected clock looks and listens at nothing by itself, and counts as hearing', async () => {
    const store = await open(kind, new TestClock())
    const before = underWay()
    store.listen(() => undefined)
    expect([underWay(), store.hears()]).toEqual([before, true])
    store.wakeOthers()
    expect(underWay()).toBe(before)
  })

  it('leaves nothing under way once it has ended, however often it began', async () => {
    const atFirst = underWay()
    const store = await open(kind)
    const before = underWay()
    for (let times = 0; times < 20; times++) {
      const stops = [store.listen(() => undefined), store.listen(() => undefined)]
      for (const stop of [...stops, ...stops]) stop()
    }
    await atMost(before)
    store.listen(() => undefined)
    await store.close()
    await atMost(atFirst)
    store.listen(() => undefined)
    await atMost(atFirst)
  })

  it('one and the same function that listens twice is called twice, until each is ended', async () => {
    const store = await open(kind)
    let calls = 0
    const heard = ({ from }: { from: string }) => {
      if (from === 'here') calls++
    }
    const [first, second] = [store.listen(heard), store.listen(heard)]
    await store.enqueue([{ target: { handler: 'x' } }])
    expect(calls).toBe(2)
    first()
    await store.enqueue([{ target: { handler: 'x' } }])
    expect(calls).toBe(3)
    second()
    await store.enqueue([{ target: { handler: 'x' } }])
    expect(calls).toBe(3)
  })
})

it('a store with an injected clock tells nobody', async () => {
  const [silent, talking, listening] = [
    await open('postgres', new TestClock()),
    await open('postgres'),
    await open('postgres'),
  ]
  let calls = 0
  listening.listen(() => calls++)
  while (!listening.hears()) await new Promise((resolve) => setImmediate(resolve))
  calls = 0
  await silent.enqueue([{ target: { handler: 'x' } }])
  silent.wakeOthers()
  // What a store had to tell it has told when it is closed, and notifications come in the order in which they were sent.
  await silent.close()
  talking.wakeOthers()
  while (calls === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(calls).toBe(1)
})
