import { expect, test } from 'vitest'
import { Notifier } from '../../../src/store/postgres/notify.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'

/** Lets what has been promised happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A notifier whose notifications arrive only when they are let through. */
function stage() {
  const clock = new TestClock()
  const onTheirWay: { news: readonly string[]; arrive: () => void; fail: () => void }[] = []
  const send = (news: readonly string[]) => {
    return new Promise<void>((arrive, reject) => {
      onTheirWay.push({ news, arrive, fail: () => reject(new Error('gone')) })
    })
  }
  return { clock, onTheirWay, notifier: new Notifier({ clock, send }) }
}

test('the first goes out at once, and all that are wanted in the next 10 ms are one', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring(['work'])
  expect(onTheirWay).toHaveLength(1)
  onTheirWay[0]?.arrive()
  await settle()
  for (let rings = 0; rings < 100; rings++) notifier.ring(['work'])
  clock.advance(9)
  await settle()
  expect(onTheirWay).toHaveLength(1)
  clock.advance(1)
  await settle()
  expect(onTheirWay).toHaveLength(2)
})

test('what happens while one is on its way is told by another, which waits for it', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring(['work'])
  notifier.ring(['work'])
  clock.advance(1_000)
  await settle()
  expect(onTheirWay).toHaveLength(1)
  onTheirWay[0]?.arrive()
  await settle()
  clock.advance(10)
  await settle()
  expect(onTheirWay).toHaveLength(2)
})

test('each tells of all kinds of things that happened since the one before, and of no others', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring(['work'])
  notifier.ring(['cancels', 'schedules'])
  notifier.ring(['cancels'])
  onTheirWay[0]?.arrive()
  await settle()
  clock.advance(10)
  await settle()
  expect(onTheirWay.map(({ news }) => news)).toEqual([['work'], ['cancels', 'schedules']])
})

test('one that is lost is lost, and the next goes out', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring(['work'])
  onTheirWay[0]?.fail()
  await settle()
  clock.advance(10)
  await settle()
  notifier.ring(['work'])
  expect(onTheirWay).toHaveLength(2)
})

test('whoever closes has told all there was to tell, and tells nothing afterwards', async () => {
  const { clock, onTheirWay, notifier } = stage()
  notifier.ring(['work'])
  notifier.ring(['work'])
  let isClosed = false
  const closing = notifier.close().then(() => {
    isClosed = true
  })
  notifier.ring(['work'])
  for (const turn of [0, 1]) {
    await settle()
    expect([onTheirWay.length, isClosed]).toEqual([turn + 1, false])
    onTheirWay[turn]?.arrive()
    await settle()
    clock.advance(10)
  }
  await closing
  notifier.ring(['work'])
  expect(onTheirWay).toHaveLength(2)
})
