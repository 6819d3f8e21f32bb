import { describe, expect, it, onTestFinished } from 'vitest'
import type { HoldReason } from '../../../src/core/hold-reason.ts'
import type { AnyOperation } from '../../../src/operations/operation.ts'
import { reserve } from '../../../src/parts/admission/accounts/reserve-account.ts'
import { workOf } from '../../../src/parts/admission/budgets/budget-scope.ts'
import { reserveBudgets } from '../../../src/parts/admission/budgets/reserve-budget.ts'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { holdReasons, nouns } from '../../../src/table.ts'
import { doors, tokenFor } from '../../doors/all-doors.ts'
import { Desk, startAt, verbsAt } from '../../operations/desk.ts'
import { atWork } from '../agents/children/scene.ts'

const target = { handler: 'h' }

interface Stage {
  readonly desk: Desk
  readonly verbs: ReturnType<typeof verbsAt>
}

/** Work under a hold of a reason: what to ask about, and what of its explanation lifts it. */
interface Held {
  readonly run?: string
  readonly schedule?: string
}

/** Leases the one ready run, as a worker does before it reserves. */
async function leased({ desk }: Stage) {
  const [lease] = await desk.lease()
  if (lease === undefined) throw new Error('nothing could be leased')
  return lease
}

async function enqueued({ verbs }: Stage, more: object = {}): Promise<Held> {
  return { run: (await verbs.runs.enqueue({ target, ...more })).id }
}

const stages: Readonly<Record<string, (stage: Stage) => Promise<Held>>> = {
  async stopped(stage) {
    await stage.verbs.holds.stop({ reason: 'Incident 4711' })
    return enqueued(stage)
  },
  async paused(stage) {
    await stage.verbs.queues.set('default', {})
    await stage.verbs.queues.pause('default', { reason: 'It is moved.' })
    return enqueued(stage)
  },
  async 'group-paused'(stage) {
    await stage.verbs.groups.create('checkout')
    await stage.verbs.schedules.create({ name: 'depth', group: 'checkout', every: '1h', target })
    await stage.verbs.groups.pause('checkout', { for: '2h', reason: 'The database is moved.' })
    return { run: (await stage.verbs.schedules.run('depth')).id }
  },
  async 'parent-held'(stage) {
    const { task, agent } = await atWork(stage.desk)
    const { task: child } = await agent.plan({ in: '20m', prompt: 'Look again.' })
    await stage.verbs.holds.put({ on: `schedule:${task.name}`, reason: 'Audit.', for: '2h' })
    return { run: (await stage.verbs.tasks.run(child.id)).id }
  },
  async calendar(stage) {
    await stage.verbs.calendars.put('office', { zone: 'UTC', open: ['mon-fri 10:00-18:00'] })
    return enqueued(stage, { calendar: 'office' })
  },
  async hold(stage) {
    await stage.verbs.holds.put({ on: 'kind:handler', reason: 'Its database is rebuilt.', for: '2h' })
    return enqueued(stage)
  },
  async 'account-blocked'(stage) {
    await stage.verbs.accounts.put('max')
    await stage.verbs.accounts.block('max', { for: '2h', reason: 'The invoice is being paid.' })
    return enqueued(stage, { account: 'max' })
  },
  async 'account-full'(stage) {
    await stage.verbs.accounts.put('max', { maxConcurrent: 1 })
    await enqueued(stage, { account: 'max' })
    const { runId, fence } = await leased(stage)
    await stage.desk.store.do(reserve, { runId, fence, accounts: ['max'], isReserving: true })
    return enqueued(stage, { account: 'max' })
  },
  async 'namespace-full'(stage) {
    await stage.verbs.namespaces.set('default', { maxConcurrent: 1 })
    await enqueued(stage)
    const { runId, fence } = await leased(stage)
    await stage.desk.store.do(reserve, { runId, fence, accounts: [], isReserving: true })
    return enqueued(stage)
  },
  async 'checkout-full'(stage) {
    const reason = holdReasons['checkout-full'] as HoldReason
    const on = { scope: 'key', subject: '/srv/app', note: 'r-1', until: startAt + 600_000 } as const
    await stage.desk.store.do(putHold, { ...on, reason, actor: { name: 'belfry', door: 'worker' } })
    return enqueued(stage, { concurrencyKey: '/srv/app' })
  },
  async quota(stage) {
    await stage.verbs.schedules.create({ name: 'digest', every: '1h', target })
    await stage.verbs.namespaces.set('default', { runsPerMonth: 1 })
    await enqueued(stage)
    return { schedule: 'digest' }
  },
  async budget(stage) {
    await stage.verbs.budgets.put('day', { per: 'day', zone: 'UTC', runs: 1, for: 'namespace' })
    await enqueued(stage)
    const { runId, fence, queue, options } = await leased(stage)
    const { schedule: _, ...work } = workOf({ queue, schedule: null, target, options })
    await stage.desk.store.do(reserveBudgets, { runId, fence, scheduleId: null, work })
    return enqueued(stage)
  },
}

/** What explains it, at every door: the sentence, and each way on with its instant or its command. */
const explanations: Readonly<Record<keyof typeof stages, readonly [says: RegExp, ...ways: (string | null)[]]>> = {
  stopped: [/^Everything is stopped by tester: Incident 4711\.$/, 'belfry go'],
  paused: [/^Its queue default is paused: It is moved\.$/, 'belfry queue resume default'],
  'group-paused': [
    /^Paused by its group checkout: The database is moved\.$/,
    '2026-01-05T11:00:00.000Z',
    'belfry group resume checkout',
  ],
  'parent-held': [
    /^Held with its parent by h-\w+ on task-\w+: Audit\.$/,
    '2026-01-05T11:00:00.000Z',
    'belfry hold lift h-ID',
  ],
  calendar: [
    /^Calendar office is closed\.$/,
    '2026-01-05T10:00:00.000Z',
    "belfry calendar put office --open 'mon-sun 00:00-24:00'",
  ],
  hold: [
    /^Hold h-\w+ on kind:handler, put by tester, .*: Its database is rebuilt\.$/,
    '2026-01-05T11:00:00.000Z',
    'belfry hold lift h-ID',
  ],
  'account-blocked': [
    /^Account max is blocked: The invoice is being paid\.$/,
    '2026-01-05T11:00:00.000Z',
    'belfry account unblock max',
  ],
  // Nothing says when a run ends.
  'account-full': [/^Account max is full: 1 of 1 at work\.$/, null, 'belfry account put max --max-concurrent N'],
  'namespace-full': [/^The namespace is full: 1 of 1 at work\.$/, null, 'belfry namespace set NAME --max-concurrent N'],
  'checkout-full': [/^Run r-1 works in \/srv\/app\.$/, '2026-01-05T09:10:00.000Z', 'belfry run show r-1'],
  quota: [
    /^Its next occurrence ends without a run: The namespace has made the 1 runs of its month\.$/,
    '2026-01-31T23:00:00.000Z',
    'belfry namespace set default --runs-per-month N',
  ],
  budget: [/^Budget day is spent: 1 run a day\.$/, '2026-01-06T00:00:00.000Z', 'belfry budget topup day'],
}

interface Explained {
  readonly answer: {
    readonly sentence: string
    readonly notes: readonly string[]
    readonly unblock: readonly { readonly command: string | null; readonly at: string | null }[]
  }
}

it('every reason of a hold is here', () => {
  expect(Object.keys(stages).sort()).toEqual(Object.keys(holdReasons).sort())
})

describe.each(Object.keys(stages))('work under a hold for %s', (code) => {
  it('is explained with the instant at which it goes on or the command that lifts it, alike at every door', async () => {
    const desk = await Desk.open()
    onTestFinished(() => desk.store.close())
    desk.token = await tokenFor(desk)
    const { run, schedule } = await (stages[code] as (typeof stages)[string])({
      desk,
      verbs: verbsAt(() => desk.context),
    })
    desk.clock.set(startAt + 1_000)
    const { operations } = run === undefined ? nouns.schedule : nouns.run
    const operation = operations.explain as unknown as AnyOperation
    const said: unknown[] = []
    for (const door of Object.values(doors)) {
      said.push(await door(desk, operation, run === undefined ? { name: schedule } : { id: run }))
    }
    expect(said.slice(1)).toEqual([said[0], said[0], said[0]])
    const { sentence, notes, unblock } = (said[0] as Explained).answer
    const [says, ...ways] = explanations[code] as readonly [RegExp, ...string[]]
    expect([sentence, ...notes].filter((text) => says.test(text))).toHaveLength(1)
    const found = unblock.map(({ command, at }) => command?.replace(/h-\w+$/, 'h-ID') ?? at)
    expect(found).toEqual(ways)
  })
})
