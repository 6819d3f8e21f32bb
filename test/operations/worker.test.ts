import { expect, it } from 'vitest'
import { atDesk, verbsAt } from './desk.ts'

const desk = atDesk()
const { workers } = verbsAt(() => desk().context)

it('a worker that missed two beats is not live, and neither is one that stopped', async () => {
  const { clock, store } = desk()
  const worker = { host: 'h', can: { kinds: [] }, beatMs: 1_000 }
  const stopped = await store.registerWorker({ name: 'stopped', ...worker })
  await store.beat([stopped], { stopped: true })
  await store.registerWorker({ name: 'silent', ...worker })
  clock.advance(2_001)
  await store.registerWorker({ name: 'live', ...worker })
  const listed = (await workers.list()).map(({ name, isLive }) => [name, isLive])
  expect(listed).toEqual([
    ['silent', false],
    ['live', true],
    ['stopped', false],
  ])
})
