import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { RunFailure } from '../../../../src/index.ts'
import { hour, minute, open, type Stage } from '../../../choices/stage.ts'
import { settleDown } from '../../../engine/stage.ts'
import { Provider } from './provider.ts'

/** The long form is 10,000: `BELFRY_WAITING_RUNS=10000`. */
const waitingRuns = Number(process.env.BELFRY_WAITING_RUNS ?? 400)

/** Sockets need turns of the event loop, and deferred runs a second; only a test that has failed already uses up all of these. */
const stepsMax = Math.max(2_000, 2 * waitingRuns)

/** Lets time pass in small steps until something holds. */
async function until(stage: Stage, isSo: () => boolean, stepMs = 10): Promise<void> {
  for (let steps = 0; !isSo(); steps++) {
    if (steps === stepsMax) throw new Error(`in vain; told: ${JSON.stringify(stage.told.slice(-5))}`)
    stage.clock.advance(stepMs)
    await settleDown(4)
    if (steps % 10 === 9) await pause(1)
  }
}

/** Lets so many requests come, and no more although there is time for them. */
async function wave(stage: Stage, provider: Provider, count: number): Promise<void> {
  await until(stage, () => provider.waiting >= count)
  await quiet(stage)
  expect(provider.waiting).toBe(count)
}

async function quiet(stage: Stage): Promise<void> {
  for (let steps = 0; steps < 30; steps++) {
    stage.clock.advance(100)
    await settleDown(4)
    await pause(1)
  }
}

async function scene(bounds: { readonly maxConcurrent?: number }, runs: number) {
  const provider = await Provider.open()
  const stage = await open({ network: { allowPrivate: true } })
  const { belfry } = stage
  await belfry.queues.set('default', { maxConcurrent: 50 })
  await belfry.accounts.put('plan', bounds)
  const http = { url: provider.url }
  const work = Array.from({ length: runs }, () => ({ target: { http }, account: 'plan', timeout: '30m' }))
  await belfry.runs.enqueueMany(work)
  await belfry.start()
  return { provider, stage, belfry }
}

it('while a provider refuses nothing starts; when it opens 1, 2, 4, 8… do, and hundreds drain under the ceiling', async () => {
  const { provider, stage, belfry } = await scene({ maxConcurrent: 16 }, waitingRuns)
  await wave(stage, provider, 16)

  // The first that is refused closes the account; the others were at work, and their answers add nothing.
  provider.answer(429, { 'retry-after': '7200' })
  const resetAt = stage.clock.now() + 2 * hour
  await until(stage, () => stage.of('run.retrying').filter(({ reason }) => reason === 'rate-limited').length === 16)
  expect(await belfry.accounts.get('plan')).toMatchObject({
    state: 'blocked',
    why: expect.stringMatching(/^HTTP 429 limit, reported by run r-/),
  })
  await stage.pass(resetAt - stage.clock.now() - minute, 10 * minute)
  expect(provider.calls).toBe(16)

  await stage.pass(2 * minute, 10_000)
  for (const count of [1, 2, 4, 8, 16]) {
    await wave(stage, provider, count)
    // The width doubles when as many have succeeded as may be at work.
    provider.answer(200)
  }

  // Once more, without a reset: a minute, and twice as long when the probe is refused too.
  await wave(stage, provider, 16)
  const before = provider.calls
  provider.answer(503)
  await until(
    stage,
    () =>
      provider.waiting === 0 &&
      stage.of('run.retrying').filter(({ reason }) => reason === 'rate-limited').length === 32,
  )
  await stage.pass(50_000, 1_000)
  expect(provider.calls).toBe(before)
  await wave(stage, provider, 1)
  provider.answer(503)
  await until(stage, () => stage.of('run.retrying').filter(({ reason }) => reason === 'rate-limited').length === 33)
  await stage.pass(110_000, 1_000)
  expect(provider.calls).toBe(before + 1)

  provider.answersAtOnce = true
  await until(stage, () => stage.of('run.completed').length === waitingRuns, 100)
  expect(provider.most).toBe(16)
  expect(await belfry.accounts.get('plan')).toMatchObject({ state: 'open', atWork: 0 })
  const { runs } = await belfry.runs.list({ limit: 1_000 })
  expect(runs.every(({ status, attempts }) => status === 'completed' && attempts === 0)).toBe(true)
  // Each start defers few others: a worker that was refused leases one run at a time.
  expect(stage.of('run.retrying').length).toBeLessThan(waitingRuns)
  expect(new Set(provider.accounts)).toEqual(new Set(['plan']))
}, 600_000)

it('a run that is refused by one account goes on with the next, and says which it used', async () => {
  const { provider, stage, belfry } = await scene({}, 0)
  await belfry.accounts.put('spare')
  const { id } = await belfry.runs.enqueue({
    target: { http: { url: provider.url } },
    account: ['plan', 'spare'],
    timeout: '30m',
  })
  await wave(stage, provider, 1)
  provider.answer(429, { 'retry-after': '3600' })
  await until(stage, () => provider.waiting === 1)
  expect(provider.accounts).toEqual(['plan', 'spare'])
  provider.answer(200)
  await stage.until('run.completed')
  const { notes } = await belfry.runs.explain(id)
  expect(notes).toEqual(expect.arrayContaining(['Attempt 2 used account spare.', 'Attempt 1 used account plan.']))
})

it('words in an answer or in the text of an error block nothing', async () => {
  const { provider, stage, belfry } = await scene({}, 1)
  await wave(stage, provider, 1)
  provider.answer(200, {}, 1, 'Limit reached, resets 2099')
  await stage.until('run.completed')
  belfry.handle('agent', () => {
    throw new Error('429 Limit reached, resets 2099-01-01')
  })
  await belfry.runs.enqueue({ target: { handler: 'agent' }, account: 'plan', attempts: 1 })
  await stage.until('run.parked')
  expect(await belfry.accounts.get('plan')).toMatchObject({ state: 'open', blockedUntil: null })
})

it('a handler says that it was refused, which window it was, and how much of a limit is used', async () => {
  const { stage, belfry } = await scene({ maxConcurrent: 2 }, 0)
  const resetAt = stage.clock.now() + hour
  const share = 0.83
  belfry.handle('agent', (run) => {
    run.utilisation({ window: 'five_hour', share, resetAt })
    if (run.attempt > 1) return run.account
    throw new RunFailure('refused', {
      rateLimited: { window: 'five_hour', resetAt: new Date(resetAt).toISOString(), hasBegun: false },
    })
  })
  const { id } = await belfry.runs.enqueue({ target: { handler: 'agent' }, account: 'plan', repeatable: false })
  await stage.until('run.retrying')
  const waiting = await belfry.runs.enqueue({ target: { handler: 'agent' }, account: 'plan' })
  expect(await belfry.accounts.get('plan')).toMatchObject({
    state: 'blocked',
    blockedUntil: resetAt,
    why: `five_hour limit, reported by run ${id}`,
    utilisation: [{ window: 'five_hour', share, resetAt }],
  })
  expect(await belfry.runs.explain(waiting.id)).toMatchObject({
    code: 'held-by',
    sentence: `Account plan is blocked: five_hour limit, reported by run ${id}.`,
    unblock: [
      { what: 'It resumes by itself; one run probes first.', at: resetAt, command: null },
      { what: 'Or unblock the account.', command: 'belfry account unblock plan' },
    ],
  })
  await stage.passTo(resetAt)
  await stage.until('run.completed')
  expect((await belfry.runs.get(id)).result?.value).toBe('plan')
})

it('a report that cannot be right is refused where it is made, and an effect that may have happened is not repeated', async () => {
  const { stage, belfry } = await scene({}, 0)
  const said: unknown[] = []
  belfry.handle('agent', (run) => {
    for (const wrong of [
      { window: '', share: 1, resetAt: 1 },
      { window: 'w', share: -1, resetAt: 1 },
      { window: 'w', share: 1, resetAt: Number.NaN },
    ]) {
      try {
        run.utilisation(wrong)
      } catch (error) {
        said.push((error as Error).message.replace(/.*is wrong: /, ''))
      }
    }
    throw new RunFailure('refused', { rateLimited: { resetAt: '2026-01-05T14:00' } })
  })
  const { id } = await belfry.runs.enqueue({ target: { handler: 'agent' }, account: 'plan', repeatable: false })
  await stage.until('run.parked')
  expect(await belfry.runs.get(id)).toMatchObject({ parked: { reason: 'effect-unknown' } })
  expect(await belfry.accounts.get('plan')).toMatchObject({
    blockedUntil: stage.clock.now() + minute,
    why: `rate limit (its reset "2026-01-05T14:00" is not an instant), reported by run ${id}`,
  })
  expect(said).toEqual([
    'window is not a text of 1 to 100 characters.',
    'share is not a number from 0 on.',
    'resetAt is not a whole number of epoch ms.',
  ])
})
