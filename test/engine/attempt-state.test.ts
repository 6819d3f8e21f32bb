import { describe, expect, it, onTestFinished } from 'vitest'
import type { HandlerRun } from '../../src/index.ts'
import { Belfry } from '../../src/index.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { Desk, verbsAt } from '../operations/desk.ts'
import { postgresUrl } from '../postgres.ts'

describe.each(['SQLite', 'PostgreSQL'] as const)('what an attempt is doing (%s)', (kind) => {
  const place = () => {
    if (kind === 'SQLite') return {}
    const schema = lendSchema()
    onTestFinished(() => returnSchema(schema))
    return { schema }
  }

  it('is shown while a handler works, and a handler that asks is not shown as working', async () => {
    const store = kind === 'SQLite' ? 'memory:' : postgresUrl()
    const belfry = await Belfry.open({ log: false, allowNonDurable: true, store, ...place() })
    let goOn: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      goOn = resolve
    })
    belfry.handle('report', async (run: HandlerRun) => {
      await run.heartbeat({ state: 'question' })
      await asked
      await expect(run.heartbeat({ state: 'asleep' as never })).rejects.toThrow(/asleep.*working, waiting, question/)
    })
    onTestFinished(() => belfry.close())
    const { id } = await belfry.runs.enqueue({ target: { handler: 'report' } })
    await belfry.start()
    await expect.poll(async () => (await belfry.runs.list({ status: 'leased' })).runs[0]?.lease?.state).toBe('question')
    goOn()
    expect(await belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' }, lease: null })
  })

  it('is told by a host with its renewals, and stays until it says otherwise', async () => {
    const desk = await Desk.open(kind === 'SQLite' ? {} : { url: postgresUrl(), ...place() })
    onTestFinished(() => desk.store.close())
    const { sched, runs } = verbsAt(() => desk.context)
    const { id = '' } = await runs.enqueue({ target: null })
    const { leases } = await sched.lease({ host: 'builder' })
    const lease = leases[0]?.lease ?? ''
    const state = async () => (await runs.get(id as string)).lease?.state
    expect(await state()).toBeNull()
    await sched.renew(lease, { state: 'waiting' })
    expect(await state()).toBe('waiting')
    await sched.renew(lease)
    expect(await state()).toBe('waiting')
    await sched.renewMany({ leases: [lease], state: 'working' })
    expect(await state()).toBe('working')
    await expect(sched.renew(lease, { state: 'asleep' as never })).rejects.toMatchObject({ code: 'invalid' })
  })
})
