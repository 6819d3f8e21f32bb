import { expect, it } from 'vitest'
import { agentAttempts, earlierAttempts, keepAttempt } from '../../../src/parts/agents/attempt-rows.ts'
import { agents } from '../../../src/parts/agents/part.ts'
import { settle } from '../../../src/store/leases/settle.ts'
import { prune } from '../../../src/store/prune/prune.ts'
import { onEachDatabase } from '../../store/scene.ts'

const day = 86_400_000

onEachDatabase('what is kept of the attempts of agents', (scene) => {
  const kept = (sessionId: string | null) => ({ profile: 'claude', sessionId, facts: { profileVersion: 'v' } })

  /** A run that is leased for the second time, after its first attempt ended in a forced stop. */
  async function leasedTwice() {
    await scene().enqueue({ target: { handler: 'h' } })
    const [first] = await scene().lease()
    if (first === undefined) throw new Error('nothing was leased')
    await scene().write((context) => keepAttempt(context, first, kept('first')))
    await scene().write((context) => settle(context, [{ ...first, outcome: { kind: 'forced-stop' } }]))
    const [second] = await scene().lease()
    if (second === undefined) throw new Error('nothing was leased')
    return { first, second }
  }

  it('is written under the lease alone: a worker that has lost it changes nothing', async () => {
    const { first, second } = await leasedTwice()
    const write = (lease: typeof first, session: string) =>
      scene().write((context) => keepAttempt(context, lease, kept(session)))
    expect(await write(first, 'late')).toBe('lease-lost')
    expect(await write(second, 'second')).toBe('written')
    expect(await write(second, 'renamed')).toBe('written')
    const found = await scene().read((context) => agentAttempts(context, first.runId))
    expect([...found].map(([fence, { sessionId }]) => [fence, sessionId])).toEqual([
      [2, 'renamed'],
      [1, 'first'],
    ])
  })

  it('tells the next attempt how those before it ended', async () => {
    const { second } = await leasedTwice()
    expect(await scene().read((context) => earlierAttempts(context, second))).toEqual([
      { outcome: 'forced-stop', profile: 'claude', sessionId: 'first' },
    ])
  })

  it('goes with its run', async () => {
    const { second } = await leasedTwice()
    await scene().write((context) => keepAttempt(context, second, kept(null)))
    await scene().write((context) => settle(context, [{ ...second, outcome: { kind: 'success' } }]))
    scene().clock.now += 8 * day
    await scene().write((context) => prune({ ...context, parts: [agents] }, { limit: 1_000 }))
    expect((await scene().read((context) => agentAttempts(context, second.runId))).size).toBe(0)
  })
})
