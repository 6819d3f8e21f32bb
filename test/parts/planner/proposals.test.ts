import { describe, expect, it } from 'vitest'
import type { SteeringEffect } from '../../../src/core/steering/steered.ts'
import { setPlanner } from '../../../src/parts/planner/desk/planner-steps.ts'
import { decideProposal, findProposal, listProposals } from '../../../src/parts/planner/desk/proposal-row.ts'
import { actOnSchedule } from '../../../src/parts/planner/looks/act-on-schedule.ts'
import type { LookFacts } from '../../../src/parts/planner/looks/look-facts.ts'
import { LookSession } from '../../../src/parts/planner/looks/look-session.ts'
import { effectInWords } from '../../../src/parts/planner/steer.ts'
import { listHints } from '../../../src/store/reads/find-schedule.ts'
import { listEvents } from '../../../src/store/reads/list-events.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { actor, hour, minute, onEachStore, type Stage, second } from '../../store/schedule-stage.ts'
import { looked, scriptOf, submit, tighten, working } from './scene.ts'

it('a proposal is an event of the process whose worker looked, and a notification where its schedule asks for one', async () => {
  const onProposal = { http: { url: 'http://127.0.0.1:9/told' } }
  const belfry = await working([tighten, submit('above 200')], 'suggest', { onProposal })
  const events: unknown[] = []
  belfry.on('proposal.made', (event) => void events.push(event))
  const { analysis } = await looked(belfry)
  const [proposal] = await belfry.proposals.list()
  expect(events).toEqual([
    {
      proposal: proposal?.id,
      schedule: 'depth',
      analysis: analysis?.id,
      author: 'demo',
      wants: 'every 30s for 15m',
      reason: 'the queue grows',
      expiresAt: proposal?.expiresAt,
    },
  ])
  const [told, ...others] = (await belfry.runs.list({ queue: 'notices' })).runs
  expect(others).toEqual([])
  const { payload } = await belfry.runs.get(told?.id ?? '')
  expect(payload).toMatchObject({ event: 'proposal', schedule: 'depth', reason: 'the queue grows' })
  expect(JSON.stringify(payload)).toContain(proposal?.id)
})

it('under act there is no proposal to tell of', async () => {
  const belfry = await working([tighten, submit('above 200')], 'act', {
    onProposal: { http: { url: 'http://127.0.0.1:9/told' } },
  })
  const events: unknown[] = []
  belfry.on('proposal.made', (event) => void events.push(event))
  await looked(belfry)
  expect(events).toEqual([])
  expect((await belfry.runs.list({ queue: 'notices' })).runs).toEqual([])
  expect(await belfry.schedules.hints('depth')).toHaveLength(1)
})

onEachStore('the event stream', (stage) => {
  it('has the proposals of the whole fleet, by their own name', async () => {
    const { store } = stage()
    await store.do(setPlanner, { provider: 'scripted', model: 'demo', script: '/none' }, { actor, zone: 'UTC' })
    await stage().put({ name: 'depth', autonomy: 'suggest' })
    stage().pass(second)
    const { place } = await store.look(listEvents, null, 100)
    stage().pass(second)
    const effect = { kind: 'interval', ms: 600_000, ttlMs: 900_000 } as const
    const author = { kind: 'planner', name: 'demo' } as const
    const seen = { schedule: 'depth', version: 1, epoch: 0, analysisId: null }
    const made = await store.do(actOnSchedule, { ...seen, author, effect, reason: 'it grows' })
    stage().pass(second)
    const { events } = await store.look(listEvents, place, 100)
    expect(events.map(({ happened }) => happened)).toMatchObject([
      {
        kind: 'proposal.made',
        actor: 'demo',
        door: 'planner',
        caller: 'agent',
        subject: `proposal ${made.answer === 'proposed' ? made.proposal : ''}`,
        detail: { schedule: 'depth', wants: 'every 10m for 15m', reason: 'it grows' },
      },
    ])
  })
})

const faster = { kind: 'interval', ms: 10 * minute, ttlMs: 15 * minute } as const

/** Proposes the effect for the schedule `depth`, as a planner does with autonomy `suggest`. */
async function proposed({ store }: Pick<Stage, 'store'>, effect: SteeringEffect): Promise<string> {
  const author = { kind: 'planner', name: 'demo' } as const
  const seen = { schedule: 'depth', version: 1, epoch: 0, analysisId: null }
  const made = await store.do(actOnSchedule, { ...seen, author, effect, reason: 'it grows' })
  if (made.answer !== 'proposed') throw new Error(JSON.stringify(made))
  return made.proposal
}

onEachStore('a proposal', (stage) => {
  const approve = (id: string) => stage().store.do(decideProposal, id, { decision: 'approved', actor })
  const begin = async () => {
    const { store } = stage()
    await store.do(setPlanner, { provider: 'scripted', model: 'demo', script: '/none' }, { actor, zone: 'UTC' })
    await stage().put({ name: 'depth', timing: { everyMs: hour }, autonomy: 'suggest' })
  }

  it('is made 12 times an hour at most, because each may notify a person, and the last can still be approved', async () => {
    await begin()
    const firstAt = stage().clock.now
    let last = ''
    for (let each = 0; each < 12; each += 1) {
      last = await proposed(stage(), faster)
      stage().pass(minute)
    }
    await expect(proposed(stage(), faster)).rejects.toThrow(new RegExp(`too-many-changes.*"liftsAt":${firstAt + hour}`))
    expect(await approve(last)).toMatchObject({ answer: 'decided' })
    stage().to(firstAt + hour)
    await proposed(stage(), faster)
  })

  it('expires 60 minutes after it was made, and is done by nobody then', async () => {
    await begin()
    const id = await proposed(stage(), faster)
    stage().pass(hour - 1)
    expect(await stage().store.look(listProposals, { isAll: false, limit: 9 })).toMatchObject([{ id, state: 'open' }])
    stage().pass(1)
    expect(await stage().store.look(listProposals, { isAll: false, limit: 9 })).toEqual([])
    expect(await approve(id)).toMatchObject({ answer: 'over', proposal: { state: 'expired' } })
    expect(await stage().store.look(listHints, 'depth')).toEqual([])
  })

  it('lives from its approval on, as long as it was to live', async () => {
    await begin()
    const id = await proposed(stage(), faster)
    stage().pass(50 * minute)
    expect(await approve(id)).toMatchObject({ answer: 'decided', proposal: { state: 'approved' } })
    const { hints } = await stage().view('depth')
    expect(hints.interval).toMatchObject({ by: 'planner', expiresAt: stage().clock.now + 15 * minute })
  })

  it('says what will be done, and not what a bound moves when it is approved', async () => {
    await begin()
    const until = stage().clock.now + 24 * hour
    for (const [asked, wants] of [
      [{ ...faster, ms: second }, 'every 10s for 15m'],
      [{ kind: 'pause', until: until + hour }, `pause until ${new Date(until).toISOString()}`],
    ] as const) {
      const id = await proposed(stage(), asked)
      const proposal = await stage().store.look(findProposal, id)
      expect(proposal === null ? null : effectInWords(proposal.effect)).toBe(wants)
    }
    const session = new LookSession({} as LookFacts, async () => ({
      ...{ answer: 'proposed', proposal: 'p-17', expiresAt: 0, wants: 'every 10s for 15m', clamped: 'every 10s' },
    }))
    expect(await session.call('propose_interval', { intervalMs: 1 })).toMatchObject({
      result: { clamped: 'every 10s' },
    })
    expect([...session.warnings]).toEqual(['clamped'])
  })

  it('for one run is refused once its instant has passed, and stays open', async () => {
    await begin()
    const at = stage().clock.now + 10 * minute
    const id = await proposed(stage(), { kind: 'oneshot', at, ttlMs: 30 * minute })
    stage().to(at + 1)
    expect(await approve(id)).toMatchObject({ answer: 'passed' })
    expect((await stage().view('depth')).hints).toEqual({})
    expect(await stage().store.look(findProposal, id)).toMatchObject({ state: 'open' })
  })

  it('is superseded by an edit, and replaced by a newer one', async () => {
    await begin()
    const first = await proposed(stage(), faster)
    const second_ = await proposed(stage(), { ...faster, ms: 20 * minute })
    expect(await approve(first)).toMatchObject({ answer: 'over', proposal: { state: 'replaced' } })
    await stage().put({ name: 'depth', timing: { everyMs: 2 * hour }, autonomy: 'suggest' })
    expect(await approve(second_)).toMatchObject({ answer: 'over', proposal: { state: 'superseded' } })
    expect((await stage().view('depth')).hints).toEqual({})
  })
})

describe('a decision on a proposal', () => {
  const desk = atDesk()
  const { planner, proposals, schedules } = verbsAt(() => desk().context)

  it('is not for agents, be they its author or not', async () => {
    await planner.set({ provider: 'scripted', model: 'demo', script: scriptOf([]) })
    await schedules.put({ name: 'depth', every: '1h', target: { handler: 'a' }, autonomy: 'suggest' })
    const id = await proposed(desk(), faster)
    const agents = verbsAt(() => ({ ...desk().context, actor: { name: 'demo', door: 'http', kind: 'agent' } }))
    for (const decide of [agents.proposals.approve, agents.proposals.decline]) {
      await expect(decide(id)).rejects.toMatchObject({ code: 'not-allowed' })
    }
    expect(await proposals.get(id)).toMatchObject({ state: 'open' })
    expect(await proposals.approve(id)).toMatchObject({ state: 'approved' })
  })
})
