import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../src/index.ts'
import { drain, TestClock } from '../../src/testing.ts'
import { postgresUrl } from '../postgres.ts'
import { scratchFolder } from '../scratch.ts'

/**
 * Stores that earlier commits wrote, as SQL text: scripts/earlier-stores.mjs filled them at 06:00 and killed a worker in the
 * middle of a run. They are opened when its lease, and that of an outside host, are long over.
 */
const folder = new URL('./earlier/', import.meta.url)
const files = readdirSync(folder)
const openedAt = Date.parse('2026-06-01T06:12Z')

/** Puts a store as it was left behind, and what else was written to it, into a place of its own, and says how it is opened. */
async function leftBehind(file: string, more: string): Promise<{ readonly store: string; readonly schema?: string }> {
  const sql = `${readFileSync(new URL(file, folder), 'utf8')} ${more}`
  if (file.endsWith('.sqlite.sql')) {
    const home = mkdtempSync(join(scratchFolder(), 'belfry-earlier-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const path = join(home, 'belfry.db')
    const database = new DatabaseSync(path)
    database.exec(`pragma journal_mode = wal; ${sql}`)
    database.close()
    return { store: `sqlite:${path}` }
  }
  const schema = `earlier_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: postgresUrl() })
  await client.connect()
  await client.query(`create schema ${schema}; set search_path to ${schema}; ${sql}`)
  onTestFinished(async () => {
    await client.query(`drop schema ${schema} cascade`)
    await client.end()
  })
  return { store: postgresUrl(), schema }
}

/** Opens a store with the code of today. */
async function opened(file: string, { namespace = 'default', more = '' } = {}) {
  const clock = new TestClock(openedAt)
  const belfry = await Belfry.open({ ...(await leftBehind(file, more)), namespace, clock, log: false })
  onTestFinished(() => belfry.close())
  belfry.handle('work', ({ payload }) => ({ did: payload ?? 'nothing' }))
  belfry.handle('fails', () => 'mended')
  belfry.handle('hangs', () => 'done')
  const pass = (time: string) => drain(belfry, { clock, for: time })
  const { runs, schedules } = belfry
  /** When the occurrences of a schedule were that ended well. */
  const completed = async (name: string) => {
    const ledger = await schedules.history(name, { limit: 100 })
    return ledger
      .filter(({ outcome }) => outcome === 'completed')
      .map(({ from }) => new Date(from).toISOString().slice(11, 16))
      .sort()
  }
  /** The run that was enqueued with this payload. */
  const runOf = async (payload: unknown) => {
    const { runs: all } = await runs.list({ limit: 1_000 })
    const found = await Promise.all(all.map(({ id }) => runs.get(id)))
    const [run] = found.filter((each) => JSON.stringify(each.payload) === JSON.stringify(payload))
    if (run === undefined) throw new Error(`No run has the payload ${JSON.stringify(payload)}.`)
    return run
  }
  return { belfry, clock, completed, pass, runOf }
}

/** What the source of the store applied, as it was written then. */
const ofSource = {
  source: 'ops',
  queues: { reports: { maxConcurrent: 3 } },
  schedules: { managed: { every: '2h', queue: 'reports', target: { handler: 'work' } } },
}

/** The times of a day from one to another, so many minutes apart. */
function every(minutes: number, first: string, last: string): string[] {
  const [from = 0, to = 0] = [first, last].map((time) => Date.parse(`1970-01-01T${time}Z`) / 60_000)
  return Array.from({ length: (to - from) / minutes + 1 }, (_, at) =>
    new Date((from + at * minutes) * 60_000).toISOString().slice(11, 16),
  )
}

it('there are stores of both databases, each of two commits', () => {
  expect(files.map((file) => file.replace(/^\w+\./, '')).sort()).toEqual([
    'postgres.sql',
    'postgres.sql',
    'sqlite.sql',
    'sqlite.sql',
  ])
})

describe.each(files)('a store that an earlier commit wrote: %s', (file) => {
  it('is brought up to date with everything in it', async () => {
    const { belfry } = await opened(file)
    const { config, queues, routines, schedules, store, tokens } = belfry
    expect((await schedules.list({ all: true })).map(({ name }) => name)).toEqual([
      'by-hand',
      'calendar',
      'failing',
      'grid',
      'held',
      'hinted',
      'interval',
      'managed',
      'one-shot',
      'resting',
    ])
    expect((await schedules.versions('interval')).map(({ version }) => version)).toEqual([2, 1])
    expect(await schedules.get('failing')).toMatchObject({ failureCount: 2, onFailure: { command: ['true'] } })
    expect((await queues.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(['mail', 'once', 'reports']))
    expect((await tokens.list()).map(({ name, scope }) => ({ name, scope }))).toEqual([
      { name: 'ci', scope: 'operate' },
    ])
    expect((await config.list()).sources.map(({ source }) => source)).toEqual(['ops'])
    expect((await routines.events('paid')).map(({ outcome }) => outcome)).toEqual(['fired'])
    expect(await store.notices()).toMatchObject({
      notify: { onFailure: { command: ['true'] } },
      told: [{ schedule: 'failing', event: 'failure', isOpen: true }],
    })
    const { checks } = await store.doctor()
    const kept = checks.filter(({ check }) => ['schema', 'integrity', 'chain', 'broken', 'config'].includes(check))
    expect(kept.filter(({ state }) => state !== 'ok')).toEqual([])
  })

  it('keeps the receivers of its queues, and sends to them', async () => {
    const notify = JSON.stringify({ onPark: { command: ['true'] }, onFailure: { command: ['false'] } })
    const more = `update queue set notify = '${notify}' where name = 'once';`
    const { belfry, pass } = await opened(file, { more })
    const { policy, policyVersion } = await belfry.queues.get('once')
    expect(policy).toMatchObject(JSON.parse(notify))
    await belfry.queues.set('once', { onFailure: null })
    expect(await belfry.queues.get('once')).toMatchObject({ policyVersion: policyVersion + 1 })
    await belfry.runs.enqueue({ queue: 'once', target: { handler: 'breaks' } })
    belfry.handle('breaks', () => {
      throw new Error('the printer is on fire')
    })
    await pass('1m')
    const { runs } = await belfry.runs.list({ queue: 'notices' })
    const sent = await Promise.all(runs.map(({ id }) => belfry.runs.get(id)))
    const ofQueue = expect.objectContaining({ event: 'park', queue: 'once' })
    expect(sent).toContainEqual(expect.objectContaining({ target: { command: ['true'] }, payload: ofQueue }))
  })

  it('goes on firing, each occurrence once', async () => {
    const { completed, pass } = await opened(file)
    await pass('3h48m')
    expect(await completed('calendar')).toEqual(['05:30', '06:30', '07:30'])
    expect(await completed('interval')).toEqual(every(60, '01:00', '10:00'))
    expect(await completed('grid')).toEqual(every(30, '00:30', '10:00'))
    expect(await completed('one-shot')).toEqual(['08:00'])
    expect(await completed('managed')).toEqual(every(120, '02:00', '10:00'))
    // Its cron names a day in January: both hints still count.
    expect(await completed('hinted')).toEqual(['06:00', ...every(20, '06:15', '09:55')])
    // It was waiting longer after each failure; the handler does not fail any more.
    expect(await completed('failing')).toEqual(every(60, '07:00', '10:00'))
    expect(await completed('resting')).toEqual([])
    expect(await completed('held')).toEqual([])
  })

  it('keeps standing still what stood still, until a person lets it go on', async () => {
    const { belfry, completed, pass, runOf } = await opened(file)
    const { queues, runs, schedules } = belfry
    await pass('1h')
    expect((await queues.get('mail')).paused).toMatchObject({ reason: 'The server moves.' })
    expect(await runOf('mail')).toMatchObject({ status: 'ready' })
    const [held] = (await runs.list({ schedule: 'held' })).runs
    expect(held).toMatchObject({ status: 'held' })
    expect(await schedules.get('resting')).toMatchObject({ disabled: { reason: 'It rests.' } })
    const parked = await runOf('parked')
    expect(parked).toMatchObject({ status: 'parked' })

    await queues.resume('mail')
    await schedules.resume('held')
    await schedules.resume('resting')
    await runs.reset(parked.id)
    await pass('2h')
    for (const id of [(await runOf('mail')).id, held?.id ?? '', parked.id]) {
      expect(await runs.get(id)).toMatchObject({ status: 'completed' })
    }
    expect(await completed('resting')).not.toEqual([])
  })

  it('fires nothing in a namespace that was stopped', async () => {
    const { belfry, completed, pass } = await opened(file, { namespace: 'stopped' })
    const { id } = await belfry.runs.enqueue({ target: { handler: 'work' } })
    await pass('4h')
    expect(await completed('tenant')).toEqual([])
    expect(await belfry.runs.get(id)).toMatchObject({ status: 'ready' })
  })

  it('takes back what a killed worker and a lost host had, under the next fence', async () => {
    const { belfry, pass, runOf } = await opened(file)
    expect(await runOf('left behind')).toMatchObject({ status: 'leased', fence: 1 })
    await pass('5m')
    expect(await runOf('left behind')).toMatchObject({ status: 'completed', fence: 2 })
    const { leases } = await belfry.sched.lease('printer-2', { queue: 'letters' })
    expect(leases).toMatchObject([{ fence: 2, payload: 'for a host' }])
  })

  it('knows the work that it took in before', async () => {
    const { belfry, pass, runOf } = await opened(file)
    const { config, routines, runs } = belfry
    const again = await runs.enqueue({ target: { handler: 'work' }, payload: { day: 1 }, idempotencyKey: 'day 1' })
    expect(again).toMatchObject({ created: false, because: 'idempotency-key', id: (await runOf({ day: 1 })).id })
    const twice = await runs.enqueue({ queue: 'mail', target: { handler: 'work' }, dedupeKey: 'mail' })
    expect(twice).toMatchObject({ created: false, because: 'dedupe-key', id: (await runOf('mail')).id })
    expect(await config.apply(ofSource)).toMatchObject({ answer: 'unchanged' })
    await routines.fire('paid', { payload: { type: 'paid', amount: 7 } })
    await pass('2h48m')
    expect((await routines.events('paid')).map(({ outcome }) => outcome)).toEqual(['fired', 'fired'])
    const later = await runOf('later')
    expect(later).toMatchObject({ status: 'completed', notBefore: Date.parse('2026-06-01T09:00Z') })
  })
})
