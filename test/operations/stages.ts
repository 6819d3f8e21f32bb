import { noteConfigFault } from '../../src/parts/config/read-configs.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import type { nouns } from '../../src/table.ts'
import { type Desk, verbsAt } from './desk.ts'
import { partStages } from './part-stages.ts'

type Nouns = typeof nouns
export type VerbName = { [Noun in keyof Nouns]: `${Noun} ${keyof Nouns[Noun]['operations'] & string}` }[keyof Nouns]

/** What cannot be known before: the id of a run, and that of a lease. */
export interface Known {
  readonly id?: string
  readonly lease?: string
  readonly path?: string
}

/** Makes what an example speaks of, and answers what cannot be known before. */
export type Stage = (desk: Desk) => Promise<Known>

const nothing: Stage = async () => ({})

const schedules: Stage = async ({ context }) => {
  const { schedules } = verbsAt(() => context)
  await schedules.put('nightly', { cron: '0 2 * * *', target: { command: ['/srv/backup.sh'] }, timeout: '1h' })
  await schedules.put('report', { every: '1m', target: { handler: 'report' }, tags: ['daily'] })
  return {}
}

const failing: Stage = async (desk) => {
  await schedules(desk)
  desk.clock.advance(60_000)
  await desk.store.fireDue({ limit: 10 })
  const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
  const ends = (await desk.lease()).map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome }))
  await desk.store.settle(ends)
  return {}
}

const edited: Stage = async (desk) => {
  await schedules(desk)
  const verbs = verbsAt(() => desk.context).schedules
  await verbs.update('nightly', { cron: '0 3 * * *', reason: 'Two is too early.' })
  await verbs.update('nightly', { cron: '0 4 * * *', priority: 7 })
  return {}
}

const history: Stage = async (desk) => {
  await schedules(desk)
  for (let days = 0; days < 3; days++) {
    desk.clock.advance(86_400_000)
    await desk.store.fireDue({ limit: 10 })
    await desk.work()
  }
  return {}
}

const hinted: Stage = async (desk) => {
  await schedules(desk)
  const { schedules: verbs } = verbsAt(() => desk.context)
  await verbs.hint('nightly', { every: '5m', reason: 'r' })
  await verbs.hint('nightly', { every: '6m', reason: 'r' })
  await verbs.hint('nightly', { at: '2026-01-05T09:20Z', reason: 'r' })
  return {}
}

export const ready: Stage = async ({ context }) =>
  verbsAt(() => context).runs.enqueue({ target: { handler: 'report' } })

export const leased: Stage = async (desk) => {
  const { id = '' } = await ready(desk)
  for (const { runId, fence } of await desk.lease()) await desk.store.appendOutput({ runId, fence }, 'so far')
  return { id }
}

export const ended: Stage = async (desk) => {
  const { id = '' } = await ready(desk)
  await desk.work()
  return { id }
}

export const parked: Stage = async (desk) => {
  const { id = '' } = await ready(desk)
  const outcome = { kind: 'failed', reason: 'broken', retryable: false } as const
  for (const { runId, fence } of await desk.lease()) await desk.store.settle([{ runId, fence, outcome }])
  return { id }
}

const endedOfSchedule: Stage = async (desk) => {
  await schedules(desk)
  const { id } = await verbsAt(() => desk.context).schedules.run('report')
  await desk.work()
  return { id }
}

const workers: Stage = async (desk) => {
  const known = await leased(desk)
  const gone = await desk.store.do(registerWorker, { name: 'gone', host: 'h', can: { kinds: [] }, beatMs: 60_000 })
  await desk.store.beat([gone], { stopped: true })
  return known
}

const queues: Stage = async ({ context }) => {
  const { queues } = verbsAt(() => context)
  await queues.set('default', { maxConcurrentPerKey: 2, backoffSpread: 0.5 })
  await queues.set('mail', { rateLimit: { startsMax: 3, per: '1m' }, retention: { parked: '1d' }, onExhausted: 'fail' })
  await queues.pause('mail')
  return {}
}

const hostQueues: Stage = async ({ context }) => {
  const { queues, runs } = verbsAt(() => context)
  for (const queue of ['default', 'mail', 'letters']) {
    await queues.set(queue, { maxConcurrent: 2 })
    await runs.enqueueMany(Array.from({ length: 4 }, (_, payload) => ({ target: null, queue, payload })))
  }
  return {}
}

const hostLease: Stage = async (desk) => {
  await hostQueues(desk)
  const { leases } = await verbsAt(() => desk.context).sched.lease('builder', { limit: 2 })
  return { id: leases[0]?.runId ?? '', lease: leases[0]?.lease ?? '' }
}

const expired: Stage = async (desk) => {
  const known = await hostLease(desk)
  desk.clock.advance(300_000)
  return known
}

const changedPolicy: Stage = async ({ context }) => {
  const { queues } = verbsAt(() => context)
  await queues.set('default', { maxConcurrent: 2 })
  await queues.set('default', { rateLimit: { startsMax: 1, per: '1s' }, retention: { completed: '1h' } })
  return {}
}

const tokens: Stage = async ({ context }) => {
  const verbs = verbsAt(() => context).tokens
  await verbs.create('builder', { scope: 'operate', expires: '1d' })
  await verbs.create('ci')
  await verbs.create('gone')
  await verbs.revoke('gone')
  return {}
}

const configured: Stage = async (desk) => {
  const { config, tokens } = verbsAt(() => desk.context)
  await tokens.create('ci')
  await config.apply({ source: 'ops', schedules: { old: { every: '1h' }, nightly: { every: '1d' } } })
  await desk.store.do(noteConfigFault, 'host:/srv/app/belfry.yaml', 'It has no source.')
  return {}
}

const routines: Stage = async (desk) => {
  await schedules(desk)
  const { routines: verbs } = verbsAt(() => desk.context)
  const match = { ref: 'refs/heads/main' }
  const run = { target: { handler: 'deploy' }, payload: { fast: true }, timeout: '1m', tags: ['event'] } as const
  await verbs.create('deploy', { match, run, description: 'Puts what was pushed where it belongs.' })
  await verbs.create('report', { type: ['push'], schedule: 'report', enabled: false })
  return {}
}

const events: Stage = async (desk) => {
  await routines(desk)
  const { routines: verbs } = verbsAt(() => desk.context)
  await verbs.fire('deploy', { payload: { ref: 'refs/heads/main' }, type: 'push', deliveryId: 'first' })
  await verbs.fire('deploy', { payload: { ref: 'refs/heads/main' }, deliveryId: 'first' })
  await verbs.fire('deploy', { payload: ['x'.repeat(20_000)] })
  await verbs.disable('deploy')
  await verbs.fire('deploy')
  return {}
}

const told: Stage = async (desk) => {
  const http = { url: 'https://example.org/hook' }
  await verbsAt(() => desk.context).store.notify({ onFailure: { http }, onPark: { http } })
  return parked(desk)
}

const held: Stage = async (desk) => {
  await queues(desk)
  const { id } = await verbsAt(() => desk.context).holds.put({ on: 'queue:mail', reason: 'The mail server is moved.' })
  return { id }
}

const account: Stage = async ({ context }) => {
  await verbsAt(() => context).accounts.put('claude-max', { maxConcurrent: 3 })
  return {}
}

const blockedAccount: Stage = async (desk) => {
  await account(desk)
  await verbsAt(() => desk.context).accounts.block('claude-max', { reason: 'The invoice is being paid.' })
  return {}
}

const spent: Stage = async (desk) => {
  await ready(desk)
  const ends = (await desk.lease()).map(({ runId, fence, scheduleId }) => {
    return { runId, fence, scheduleId, outcome: { kind: 'success' as const }, usage: { tokensIn: 10, tokensOut: 5 } }
  })
  await desk.store.settle(ends)
  return {}
}

const budgeted: Stage = async (desk) => {
  await queues(desk)
  await schedules(desk)
  const { budgets: verbs } = verbsAt(() => desk.context)
  await verbs.put('claude-day', { for: 'profile=claude', per: 'day', money: '40USD', tokens: 2_000_000, runs: 200 })
  await verbs.put('mail', { for: 'queue=mail', per: 'hour', runtime: '2h', perRun: { runtime: '1m' } })
  return {}
}

/** Every verb has one, or this does not compile. */
export const stages: Readonly<Record<VerbName, Stage>> = {
  'schedule create': nothing,
  'schedule put': nothing,
  'schedule update': schedules,
  'schedule revert': edited,
  'schedule get': hinted,
  'schedule list': failing,
  'schedule delete': schedules,
  'schedule pause': schedules,
  'schedule resume': schedules,
  'schedule reset': schedules,
  'schedule run': schedules,
  'schedule test': schedules,
  'schedule backfill': history,
  'schedule next': schedules,
  'schedule explain': hinted,
  'schedule history': history,
  'schedule hint': schedules,
  'schedule clearHints': hinted,
  'schedule hints': hinted,
  'schedule versions': schedules,
  'run enqueue': nothing,
  'run enqueueMany': nothing,
  'run get': ended,
  'run explain': parked,
  'run list': history,
  'run attempts': ended,
  'run output': leased,
  'run wait': ended,
  'run cancel': leased,
  'run retry': endedOfSchedule,
  'run reset': parked,
  'run reprioritise': ready,
  'queue set': nothing,
  'queue get': queues,
  'queue list': queues,
  'queue pause': queues,
  'queue resume': queues,
  'queue delete': queues,
  'queue stats': parked,
  'queue drain': hostQueues,
  'queue versions': changedPolicy,
  'queue diff': changedPolicy,
  'routine create': schedules,
  'routine get': routines,
  'routine list': routines,
  'routine fire': routines,
  'routine events': events,
  'routine delete': events,
  'routine enable': events,
  'routine disable': routines,
  'sched plan': hostLease,
  'sched lease': hostQueues,
  'sched renew': hostLease,
  'sched renewMany': hostLease,
  'sched complete': hostLease,
  'sched release': hostLease,
  'sched park': hostLease,
  'sched reclaim': expired,
  'sched reset': async (desk) => {
    const known = await parked(desk)
    await hostQueues(desk)
    const { sched } = verbsAt(() => desk.context)
    const { leases } = await sched.lease('builder', { queue: 'mail' })
    await sched.park({ lease: leases[0]?.lease ?? '', reason: 'HTTP 503' })
    return known
  },
  'hold put': async (desk) => {
    await queues(desk)
    return schedules(desk)
  },
  'namespace list': budgeted,
  'namespace show': budgeted,
  'namespace set': budgeted,
  'budget put': budgeted,
  'budget list': budgeted,
  'budget show': budgeted,
  'budget topup': budgeted,
  'budget delete': budgeted,
  'budget cost': spent,
  'admission list': held,
  'setting list': nothing,
  'setting set': nothing,
  'setting reset': nothing,
  'hold list': held,
  'hold lift': held,
  'hold stop': leased,
  'hold go': async (desk) => {
    const { holds: verbs } = verbsAt(() => desk.context)
    await verbs.stop({ on: 'kind:command', reason: 'Incident 4711' })
    await verbs.stop({ reason: 'Incident 4711' })
    return {}
  },
  'account put': nothing,
  'account list': blockedAccount,
  'account get': blockedAccount,
  'account block': account,
  'account unblock': blockedAccount,
  'account delete': account,
  'worker list': workers,
  'token create': nothing,
  'token list': tokens,
  'token revoke': tokens,
  'config apply': configured,
  'config list': configured,
  'store doctor': history,
  'store importWorkflow': nothing,
  'store importCrontab': nothing,
  'store notify': nothing,
  'store notifyTest': async (desk) => {
    await schedules(desk)
    return told(desk)
  },
  'store notices': told,
  ...partStages,
}

/** An example about what is there. */
export function about({ id = '', lease = '', path }: Known, example: object): Record<string, unknown> {
  const known = { id, run: id, ids: [id], lease, leases: [lease], message: lease, path }
  const given = example as Readonly<Record<string, unknown>>
  // A routine's run is a whole run and not an id.
  const meant = Object.entries(known).filter(
    ([field, value]) => value !== undefined && typeof given[field] === typeof value,
  )
  return { ...example, ...Object.fromEntries(meant) }
}
