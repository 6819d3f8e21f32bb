import { expect, test } from 'vitest'
import { Notifier } from '../../../src/store/postgres/notify.ts'
import { TestClock } from '../../../src/testing/clock.ts'

/** Lets what has been promised happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A notifier whose notifications arrive only when they are let through. */
function stage() {
  const clock = new TestClock()
  const onTheirWay: { arrive: () => void; fail: () => void }[] = []
  const send = () => {
    return new Promise<void>((arrive, reject) => onTheirWay.push({ arrive, fail: () => reject(new Error('gone')) }))
  }
  return { clock, onTheirWay, notifier: new Notifier({ clock, send }) }
}

test('the first goes out at once, and all that are wanted in the next 10 ms are one', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring()
  expect(onTheirWay).toHaveLength(1)
  onTheirWay[0]?.arrive()
  await settle()
  for (let rings = 0; rings < 100; rings++) notifier.ring()
  clock.advance(9)
  await settle()
  expect(onTheirWay).toHaveLength(1)
  clock.advance(1)
  await settle()
  expect(onTheirWay).toHaveLength(2)
})

test('what happens while one is on its way is told by another, which waits for it', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring()
  notifier.ring()
  clock.advance(1_000)
  await settle()
  expect(onTheirWay).toHaveLength(1)
  onTheirWay[0]?.arrive()
  await settle()
  clock.advance(10)
  await settle()
  expect(onTheirWay).toHaveLength(2)
})

test('one that is lost is lost, and the next goes out', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring()
  onTheirWay[0]?.fail()
  await settle()
  clock.advance(10)
  await settle()
  notifier.ring()
  expect(onTheirWay).toHaveLength(2)
})

test('whoever closes has told all there was to tell, and tells nothing afterwards', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring()
  notifier.ring()
  let isClosed = false
  const closing = notifier.close().then(() => {
    isClosed = true
  })
  notifier.ring()
  for (const turn of [0, 1]) {
    await settle()
    expect([onTheirWay.length, isClosed]).toEqual([turn + 1, false])
    onTheirWay[turn]?.arrive()
    await settle()
    clock.advance(10)
  }
  await closing
  notifier.ring()
  expect(onTheirWay).toHaveLength(2)
})
