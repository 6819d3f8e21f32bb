import { expect, it } from 'vitest'
import { lease } from '../../src/store/leases/lease.ts'
import { settle, settlePlain } from '../../src/store/leases/settle.ts'
import type { Lease } from '../../src/store/port.ts'
import type { EndHooks, Ends } from '../../src/store/runs/end-hooks.ts'
import { fireDue } from '../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { lockSchedules, saveSchedules } from '../../src/store/schedules/schedule-row.ts'
import { both, one, type Request, type Row, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { actor, numberOf, onEachDatabase, type Scene, startAt } from './scene.ts'

const success = { kind: 'success' } as const
const minutely = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target: { handler: 'h' } } as const

/** The same step, with what it asks the database for noted as it goes, and how. */
function* watched<Result>(step: Step<Result>, asked: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    const request: Request = turn.value
    if ('statement' in request) asked.push(`${request.statement.name}${request.way === 'alone' ? ' (alone)' : ''}`)
    else asked.push(request.kind)
    const rows: Row[] = yield request
    turn = step.next(rows)
  }
  return turn.value
}

async function askedBy(scene: Scene, verb: (context: StoreContext) => Step<unknown>): Promise<string[]> {
  const asked: string[] = []
  await scene.write((context) => watched(verb(context), asked))
  return asked
}

function bring(scene: Scene, ...hooks: EndHooks[]): void {
  scene.context = { ...scene.context, parts: hooks.map((hook) => ({ name: 'test', ...hook })) }
}

const endOf = ({ runId, fence, scheduleId }: Lease) => ({ runId, fence, scheduleId, outcome: success })
const request = { queue: 'default', workerId: 'w-11', can: { kinds: ['handler'], host: true }, limit: 9 }

/** What a fire, a lease and the ends of an occurrence and of plain work ask the database for. */
async function costs(scene: Scene): Promise<Record<string, string[]>> {
  const name = `minutely ${scene.context.parts.length}`
  await scene.write((context) => putSchedule(context, { ...minutely, name }, { mode: 'create', actor }))
  await scene.enqueue({ target: { handler: 'h' } })
  scene.clock.now += 60_000
  const fire = await askedBy(scene, (context) => fireDue(context, { limit: 10 }))
  const leased: Lease[] = []
  const take = await askedBy(scene, function* (context) {
    leased.push(...(yield* lease(context, { ...request, claimId: `cost ${name}` })).leases)
  })
  const ends = leased.map(endOf)
  const plain = ends.filter(({ scheduleId }) => scheduleId === null)
  const occurrence = ends.filter(({ scheduleId }) => scheduleId !== null)
  expect([plain.length, occurrence.length]).toEqual([1, 1])
  return {
    fire,
    take,
    plain: await askedBy(scene, (context) => settlePlain(context, plain)),
    occurrence: await askedBy(scene, (context) => settle(context, occurrence)),
  }
}

onEachDatabase('hooks at the end of runs', (scene) => {
  it('cost nothing where no part has any, and those of today nothing where all goes well', async () => {
    const { parts } = scene().context
    const ofToday = await costs(scene())
    await scene().begin()
    bring(scene())
    const withoutParts = await costs(scene())
    expect(ofToday).toEqual(withoutParts)
    expect(parts.some(({ ended }) => ended !== undefined)).toBe(true)
    expect(ofToday.plain).toEqual(['settle end plainly (alone)', 'settle drop plain leases'])
    expect(ofToday.occurrence).toEqual([
      'schedule lock',
      'settle take leases',
      'rows',
      'conclude insert attempts',
      'live delete',
      'ledger finish',
      'live find busy',
      'rows',
      'schedule save completed',
    ])
  })

  it('are shown plain ends with their results, in their transaction, unless they say that they skip them', async () => {
    const shown: unknown[] = []
    function* ended(_: StoreContext, { now, ends }: Ends<unknown>): Step<void> {
      shown.push(...ends.map((end) => ({ now, ...end })))
    }
    const settleOne = async (result?: unknown) => {
      const id = await scene().enqueue()
      const held = await scene().leaseOf(id)
      const end = { ...endOf(held), ...(result !== undefined && { result }) }
      const asked = await askedBy(scene(), (context) => settlePlain(context, [end]))
      return { id, asked }
    }
    bring(scene(), { ended })
    const { id, asked } = await settleOne({ rows: 3 })
    expect(asked.some((name) => name.endsWith('(alone)'))).toBe(false)
    const plain = {
      scheduleId: null,
      fence: 1,
      outcome: 'success',
      status: 'completed',
      isOver: true,
      reason: 'success',
    }
    const { ns } = scene().context
    expect(shown).toEqual([{ ...plain, now: startAt, ns, runId: numberOf(id), result: { rows: 3 } }])
    bring(scene(), { ended: Object.assign(ended, { skipsPlain: true as const }) })
    expect((await settleOne()).asked).toContain('settle end plainly (alone)')
    expect(shown).toHaveLength(1)
  })

  it('come after the last effect of an attempt, which no older fence takes, and whose answer is the outcome', async () => {
    const shown: unknown[] = []
    function* ended(_: StoreContext, { ends }: Ends<unknown>): Step<void> {
      shown.push(...ends.map(({ status, reason, effect }) => [status, reason, effect === renames]))
    }
    const taken: string[] = []
    const renames = {
      take: ({ kind }: { kind: string }) => {
        taken.push(kind)
        return { kind: 'failed', reason: 'the file is another one', retryable: false } as const
      },
    }
    const breaks = {
      take: (): never => {
        throw new Error('no disk')
      },
    }
    bring(scene(), { ended: Object.assign(ended, { skipsPlain: true as const }) })
    const held = await scene().leaseOf(await scene().enqueue({ onExhausted: 'fail' }))
    const end = { ...endOf(held), effect: renames }
    const [refused] = await scene().write((context) => settle(context, [{ ...end, fence: 7 }]))
    expect([refused?.answer, taken]).toEqual(['lease-lost', []])
    await scene().write((context) => settle(context, [end]))
    expect(taken).toEqual(['success'])
    const other = await scene().leaseOf(await scene().enqueue())
    await scene().write((context) => settle(context, [{ ...endOf(other), effect: breaks }]))
    expect(shown).toEqual([
      ['failed', 'the file is another one (not retryable)', true],
      ['ready', 'its last effect failed: no disk', false],
    ])
  })

  it('see attempts after which another one follows, and runs that ended without one', async () => {
    const shown: unknown[] = []
    function* ending(_: StoreContext, { ends }: Ends<unknown>): Step<readonly number[]> {
      shown.push(...ends.map(({ fence, status, isOver }) => [fence, status, isOver]))
      return []
    }
    bring(scene(), { ending })
    const id = await scene().enqueue()
    await scene().end(await scene().leaseOf(id), { kind: 'failed', reason: 'broken' })
    const late = await scene().enqueue({ deadline: startAt + 1 })
    scene().clock.now += 1
    expect((await scene().lease()).map(({ runId }) => runId)).not.toContain(late)
    expect(shown).toEqual([
      [1, 'ready', false],
      [0, 'skipped', true],
    ])
  })

  it('write hints before schedules move, and the schedule goes by what they wrote', async () => {
    const expiresAt = startAt + 3_600_000
    function* ending(_: StoreContext, { schedules }: Ends<unknown>): Step<readonly number[]> {
      const rows = yield* lockSchedules([...schedules.keys()], { wait: true })
      const hints = { interval: { ms: 10_000, expiresAt } }
      yield* saveSchedules([...rows.values()].map((row) => ({ ...row, hints })))
      return [...rows.keys()]
    }
    const moved: unknown[] = []
    function* ended(
      _: StoreContext,
      { schedules }: Ends<{ readonly before: { readonly hints: unknown } }>,
    ): Step<void> {
      moved.push(...[...schedules.values()].map(({ before }) => before.hints))
    }
    bring(scene(), { ending, ended })
    const every = { ...minutely, timing: { everyMs: 3_000_000 }, startNow: true }
    await scene().write((context) => putSchedule(context, every, { mode: 'create', actor }))
    await scene().write((context) => fireDue(context, { limit: 10 }))
    const [held] = (await scene().lease()) as [Lease]
    await scene().end(held)
    const { next_run_at: nextRunAt } = await scene().read(function* () {
      const text = both('test next run', 'select next_run_at from belfry.schedule where ns = $1 and name = $2')
      return (yield* one(text, scene().context.ns, minutely.name)) as Row
    })
    expect(nextRunAt).toBe(startAt + 10_000)
    expect(moved).toEqual([{ interval: { ms: 10_000, expiresAt } }])
  })
})
