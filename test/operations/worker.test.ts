import { expect, it, vi } from 'vitest'
import { isProvenDead, ownIdentity } from '../../src/store/workers/process-identity.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { atDesk, verbsAt } from './desk.ts'

vi.mock('../../src/store/workers/process-identity.ts', async (original) => {
  const real = await original<typeof import('../../src/store/workers/process-identity.ts')>()
  return { ...real, ownIdentity: vi.fn(real.ownIdentity), isProvenDead: vi.fn(real.isProvenDead) }
})

const desk = atDesk()
const { workers } = verbsAt(() => desk().context)

it('a worker that missed two beats is not live, and neither is one that stopped', async () => {
  const { clock, store } = desk()
  const worker = { host: 'h', can: { kinds: [] }, beatMs: 1_000 }
  const stopped = await store.do(registerWorker, { name: 'stopped', ...worker })
  await store.beat([stopped], { stopped: true })
  await store.do(registerWorker, { name: 'silent', ...worker })
  clock.advance(2_001)
  await store.do(registerWorker, { name: 'live', ...worker })
  const listed = (await workers.list()).map(({ name, isLive }) => [name, isLive])
  expect(listed).toEqual([
    ['silent', false],
    ['live', true],
    ['stopped', false],
  ])
})

it('the queues that a worker works for are listed, and of one that works for all none', async () => {
  const worker = { name: 'w', host: 'h', beatMs: 1_000 }
  await desk().store.do(registerWorker, { ...worker, can: { kinds: ['http'], queues: ['a', 'b'] } })
  await desk().store.do(registerWorker, { ...worker, can: { kinds: ['http'] } })
  expect((await workers.list()).map(({ can }) => can)).toEqual([
    { kinds: ['http'], queues: ['a', 'b'] },
    { kinds: ['http'] },
  ])
})

it('who looks is found out once, however many workers there are and however often they are looked at', async () => {
  const process = ownIdentity() ?? { pid: 1, startedAt: '1', bootId: 'b', pidNamespace: 'n' }
  for (const name of ['a', 'b', 'c']) {
    await desk().store.do(registerWorker, { name, host: 'h', can: { kinds: [] }, beatMs: 1_000, process })
  }
  await workers.list()
  const readBefore = vi.mocked(ownIdentity).mock.calls.length
  expect(await workers.list()).toHaveLength(3)
  expect(vi.mocked(ownIdentity).mock.calls.length).toBe(readBefore)
  // Whoever is not told who looks finds it out anew.
  for (const [, looks] of vi.mocked(isProvenDead).mock.calls) expect(looks).not.toBeUndefined()
})
