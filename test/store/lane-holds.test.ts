import { beforeEach, expect, it } from 'vitest'
import type { HoldFiring, HoldScope } from '../../src/core/hold.ts'
import { putAccount } from '../../src/parts/admission/accounts/write-account.ts'
import { putCalendar } from '../../src/parts/admission/calendars/write-calendar.ts'
import { putHold } from '../../src/store/holds/put-hold.ts'
import { planInput } from '../../src/store/reads/plan-input.ts'
import { fireDue } from '../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { actor, onEachDatabase, startAt } from './scene.ts'

const hour = 3_600_000
const target = { handler: 'h' }
const minutely = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target } as const

onEachDatabase('lanes of accounts and calendars', (scene) => {
  beforeEach(async () => {
    for (const name of ['max', 'other']) await scene().write((context) => putAccount(context, name, {}, { actor }))
  })

  const hold = (scope: HoldScope, subject: string, firing: HoldFiring = 'waits') =>
    scene().write((context) =>
      putHold(context, { scope, subject, until: startAt + hour, reason: { code: 'blocked', firing }, actor }),
    )
  const ledger = () => scene().sql('select outcome, count, run_id from belfry.ledger where ns = $1', scene().context.ns)

  it.each([
    ['account', { account: ['max'] }, 'max'],
    ['calendar', { calendar: ['office', '!night'] }, 'office,!night'],
  ] as const)('a hold on an %s stops its runs and no others, until it ends', async (scope, options, subject) => {
    const always = { zone: 'UTC', open: ['mon-sun 00:00-24:00'] }
    const never = { zone: 'UTC', open: [] }
    for (const [name, hours] of Object.entries({ office: always, other: always, night: never })) {
      await scene().write((context) => putCalendar(context, { name, hours }, { actor }))
    }
    const held = await scene().enqueue({ target, options })
    const free = await scene().enqueue({ target })
    const other = await scene().enqueue({ target, options: { [scope]: ['other'] } })
    await hold(scope, subject)
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([free, other])
    const { holds, runs } = await scene().read((context) => planInput(context, 'default', 10))
    expect(holds).toMatchObject([{ scope, subject }])
    expect(runs.find(({ id }) => id === held)?.target).toMatchObject({ kind: 'handler', name: 'h', [scope]: subject })
    scene().clock.now = startAt + hour
    expect((await scene().lease()).map(({ runId }) => runId)).toEqual([held])
  })

  it('work for hosts has an account too', async () => {
    await scene().enqueue({ target: null, options: { account: ['max'] } })
    await hold('account', 'max')
    expect(await scene().lease()).toEqual([])
    scene().clock.now = startAt + hour
    expect(await scene().lease()).toHaveLength(1)
  })

  it.each([
    ['account', 'max'],
    ['queue', 'default'],
    ['kind', 'handler/h'],
    ['schedule', 'minutely'],
    ['namespace', ''],
  ] as const)(
    'under a hold on its %s that skips, each occurrence ends with the reason and without a run',
    async (scope, subject) => {
      await scene().enqueue({ target })
      const spec = { ...minutely, options: { account: ['max'] } }
      await scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
      await hold(scope, subject, 'skips')
      for (const minute of [1, 2]) {
        scene().clock.now = startAt + minute * 60_000
        expect(await scene().write((context) => fireDue(context, { limit: 10 }))).toMatchObject({
          runs: [],
          skipped: [{ reason: 'blocked' }],
        })
      }
      expect(await ledger()).toMatchObject([{ outcome: 'blocked', count: 2, run_id: null }])
      scene().clock.now = startAt + hour
      expect((await scene().write((context) => fireDue(context, { limit: 10 }))).runs).toHaveLength(1)
    },
  )

  it('a hold that skips on another account lets the schedule fire', async () => {
    const spec = { ...minutely, options: { account: ['max'] } }
    await scene().write((context) => putSchedule(context, spec, { mode: 'create', actor }))
    await hold('account', 'other', 'skips')
    scene().clock.now = startAt + 60_000
    expect((await scene().write((context) => fireDue(context, { limit: 10 }))).runs).toHaveLength(1)
  })
})
