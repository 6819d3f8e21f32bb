import { expect, it } from 'vitest'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { cancelRun } from '../../../src/store/runs/cancel-run.ts'
import { resetRun } from '../../../src/store/runs/reset-run.ts'
import { actor, second } from '../../store/schedule-stage.ts'
import { onEachTold } from '../explain/stage.ts'

const broken: Outcome = { kind: 'failed', reason: 'broken' }

onEachTold('the attempts of a run', (told) => {
  const explain = (id: string) => told().verbs.runs.explain(id)
  const setPolicy = (policy: object) => told().stage.store.do(setQueue, 'default', { policy, actor })

  it('that was parked and reset says so, and does not take the time in between for a backoff', async () => {
    const { stage } = told()
    const id = await told().enqueue()
    await stage.fail(await stage.leaseOne())
    stage.pass(49 * second)
    await stage.store.do(resetRun, id)
    const verdicts = async () => (await explain(id)).attempts.map(({ verdict }) => verdict)
    expect(await verdicts()).toEqual(['The run was parked, and has been reset since.'])
    await stage.end(await stage.leaseOne(), broken)
    const reset = 'The run was parked, and has been reset since. It was tried again 49s later.'
    expect(await verdicts()).toEqual([
      reset,
      'It may be tried again 1s later (1 attempt used; the current policy gives a backoff of 1s).',
    ])
    stage.pass(second)
    await stage.end(await stage.leaseOne())
    const ended = await explain(id)
    expect(ended.attempts.map(({ verdict }) => verdict)).toEqual([
      reset,
      'It was tried again 1s later (1 attempt used; the current policy gives a backoff of 1s).',
      'The run ended: completed.',
    ])
    expect(ended.notes).toEqual([`Read the output of its attempts: belfry run output ${id}`])
  })

  it('whose budget was used up and given back counts anew, for whatever it was parked', async () => {
    const { stage } = told()
    await setPolicy({ maxAttempts: 2 })
    const id = await told().enqueue()
    for (let attempt = 1; attempt <= 3; attempt++) {
      await stage.end(await stage.leaseOne(), broken)
      stage.pass(second)
      if (attempt === 2) await stage.store.do(resetRun, id)
    }
    expect((await explain(id)).attempts.map(({ verdict }) => verdict)).toEqual([
      'It was tried again 1s later (1 attempt used; the current policy gives a backoff of 1s).',
      'The run was parked, and has been reset since. It was tried again 1s later.',
      'It may be tried again 1s later (1 attempt used; the current policy gives a backoff of 1s).',
    ])
  })

  it('that waited longer than its backoff is not said to have been backed off for that long', async () => {
    const { stage } = told()
    const id = await told().enqueue()
    await stage.end(await stage.leaseOne(), broken)
    stage.pass(6 * second + 1)
    await stage.end(await stage.leaseOne())
    expect((await explain(id)).attempts[0]?.verdict).toBe(
      'It was tried again 6s later (1 attempt used; the current policy gives a backoff of 1s: its target asked for more, no worker leased it sooner, or the policy was different).',
    )
  })

  it('that were judged by another policy are not told as if today’s had made them wait', async () => {
    const { stage } = told()
    await setPolicy({ maxAttempts: 5, backoffBaseMs: 60 * second })
    const id = await told().enqueue()
    await stage.end(await stage.leaseOne(), broken)
    const verdicts = async () => (await explain(id)).attempts.map(({ verdict }) => verdict)
    await setPolicy({ maxAttempts: 2, backoffBaseMs: second })
    expect(await verdicts()).toEqual([
      'It may be tried again 1m later (1 attempt used; the current policy gives a backoff of 1s: its target asked for more, no worker leased it sooner, or the policy was different).',
    ])
    await setPolicy({ maxAttempts: 5, backoffBaseMs: 3_600 * second, backoffCapMs: 3_600 * second })
    stage.pass(60 * second)
    await stage.end(await stage.leaseOne(), { kind: 'failed', reason: 'busy', retryAfterMs: 3_600 * second })
    expect(await verdicts()).toEqual([
      'It was tried again 1m later (1 attempt used; the current policy gives a backoff of 1h).',
      'It may be tried again 1h later (2 attempts used; the current policy gives a backoff of 1h).',
    ])
  })

  it('whose attempt failed after it was to be cancelled has used nothing with it', async () => {
    const { stage } = told()
    const id = await told().enqueue()
    const lease = await stage.leaseOne()
    await stage.store.do(cancelRun, id, 'The disk is full.')
    expect((await explain(id)).sentence).toMatch(/ Its cancellation was requested: The disk is full\.$/)
    await stage.end(lease, broken)
    expect((await explain(id)).attempts).toMatchObject([{ outcome: 'failed', isCounted: false }])
  })
})
