import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Confirmations } from '../../src/doors/mcp/confirmations.ts'
import { mcpServer } from '../../src/doors/mcp/mcp-server.ts'
import { openStore } from '../../src/open-store.ts'
import { runOperations } from '../../src/operations/run/noun.ts'
import { fireRoutine } from '../../src/parts/routines/fire-routine.ts'
import { routineOperations } from '../../src/parts/routines/operations/noun.ts'
import type { NewRun, Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { Desk, errorOf, startAt, verbsAt } from '../operations/desk.ts'
import { postgresUrl } from '../postgres.ts'
import { scratchFolder } from '../scratch.ts'
import { listAudit } from '../store/list-audit.ts'
import { doors, tokenFor } from './all-doors.ts'

const databases = ['SQLite', 'PostgreSQL'] as const

describe.each(databases)('lists are newest first, whichever process wrote what they show (%s)', (database) => {
  let desk: Desk
  /** Another process on the same store: on PostgreSQL it has a block of ids of its own. */
  let other: Store
  let leave: () => Promise<void>

  beforeEach(async () => {
    const folder = mkdtempSync(join(scratchFolder(), 'belfry-newest-'))
    const schema = database === 'PostgreSQL' ? lendSchema() : undefined
    const url = schema === undefined ? `sqlite:${join(folder, 'belfry.db')}` : postgresUrl()
    desk = await Desk.open({ url, ...(schema !== undefined && { schema }) })
    other = await openStore(url, { clock: desk.clock, ...(schema !== undefined && { schema }) })
    desk.token = await tokenFor(desk)
    leave = async () => {
      await Promise.all([desk.store.close(), other.close()])
      if (schema !== undefined) await returnSchema(schema)
      rmSync(folder, { recursive: true, force: true })
    }
  })
  afterEach(() => leave())

  /** Runs that the two processes make in turn, a second apart; the newest is the first. */
  async function inTurn(count: number, input: NewRun = {}): Promise<string[]> {
    const ids: string[] = []
    for (let made = 0; made < count; made++) {
      desk.clock.advance(1_000)
      const [one] = await (made % 2 === 0 ? desk.store : other).enqueue([input])
      ids.unshift(one?.id ?? '')
    }
    return ids
  }

  /** Every page of a list at a door, one run at a time. */
  async function paged(door: keyof typeof doors, filter: Record<string, unknown> = {}): Promise<string[]> {
    const ids: string[] = []
    for (let before: string | null = null, pages = 0; pages < 20; pages++) {
      const input = { ...filter, limit: 1, ...(before !== null && { before }) }
      const said = await doors[door](desk, runOperations.list, input)
      if (!('answer' in said)) throw new Error(JSON.stringify(said))
      const page = said.answer as { runs: { id: string }[]; next: string | null }
      ids.push(...page.runs.map(({ id }) => id))
      if (page.next === null) return ids
      before = page.next
    }
    throw new Error('the list does not end')
  }

  it.each(['library', 'http', 'mcp', 'cli'] as const)('page by page at this door: %s', async (door) => {
    const ids = await inTurn(5)
    expect(await paged(door)).toEqual(ids)
    expect(await paged(door, { queue: 'default' })).toEqual(ids)
  })

  /** Deliveries that the two processes take in turn, a second apart; the newest is the first. */
  async function delivered(count: number): Promise<string[]> {
    await verbsAt(() => desk.context).routines.create({ name: 'hook', run: { target: null } })
    const ids: string[] = []
    for (let came = 0; came < count; came++) {
      desk.clock.advance(1_000)
      const deliveryId = `d${came}`
      const event = { payload: came, deliveryId, actor: desk.context.actor }
      await (came % 2 === 0 ? desk.store : other).do(fireRoutine, 'hook', event)
      ids.unshift(deliveryId)
    }
    return ids
  }

  it.each(['library', 'http', 'mcp', 'cli'] as const)(
    'events of a routine, page by page at this door: %s',
    async (door) => {
      const ids = await delivered(5)
      const { events } = routineOperations
      const found: string[] = []
      for (let next: Readonly<Record<string, unknown>> | null = {}; next !== null; ) {
        const input: Record<string, unknown> = { name: 'hook', limit: 2, ...next }
        const said = await doors[door](desk, events, input)
        if (!('answer' in said)) throw new Error(JSON.stringify(said))
        const { answer } = said as { answer: { items?: unknown; next?: object } }
        const page = (answer.items ?? answer) as { id: string; at: string; deliveryId: string }[]
        found.push(...page.map(({ deliveryId }) => deliveryId))
        next = events.nextPage?.(page.map((one) => ({ ...one, at: Date.parse(one.at) })) as never, input) ?? null
        if (door === 'mcp') expect(answer.next ?? null).toEqual(next)
      }
      expect(found).toEqual(ids)
    },
  )

  it('what was done to a subject', async () => {
    const verbs: string[] = []
    for (const [index, store] of [desk.store, other, desk.store, other].entries()) {
      desk.clock.advance(1_000)
      const reason = `reason ${index}`
      await store.do(setQueue, 'mail', { paused: { reason }, actor: desk.context.actor })
      verbs.unshift(reason)
    }
    const lines = await desk.store.look(listAudit, 'queue mail')
    const reasons = lines.map(({ detail }) => JSON.stringify(detail).match(/reason \d/)?.[0])
    expect(reasons.filter((reason) => reason !== undefined)).toEqual(verbs)
    expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted((one, two) => two - one))
  })

  it('and in the resource that a model reads', async () => {
    const ids = await inTurn(5)
    const [near, far] = InMemoryTransport.createLinkedPair()
    const confirmations = new Confirmations('s', desk.clock)
    const start = { door: 'http', path: '/mcp' } as const
    const offered = { scope: 'read', tools: new Set<string>(), confirmations, start } as const
    await mcpServer({ context: async () => desk.context, version: '1', ...offered }).connect(far)
    const client = new Client({ name: 'a model', version: '1' })
    await client.connect(near)
    const { contents } = await client.readResource({ uri: 'belfry://runs' })
    await client.close()
    const text = (contents[0] as { text: string }).text
    expect(text.match(/"id": ?"r-\w+"/g)?.map((found) => found.slice(found.indexOf('r-'), -1))).toEqual(ids)
  })

  it('also those of a schedule between others, the waiting, the leased and the held', async () => {
    await verbsAt(() => desk.context).schedules.put('s', { overlap: 'allow', target: { handler: 'h' } })
    const waiting = await inTurn(3, { queue: 'later', notBefore: startAt + 86_400_000 })
    const made: string[] = []
    for (const store of [desk.store, other, desk.store, other]) {
      desk.clock.advance(1_000)
      const answer = await store.do(runNow, 's', {})
      if ('id' in answer) made.unshift(answer.id as string)
    }
    const plain = await inTurn(3)
    expect(made).toHaveLength(4)
    expect(await paged('library')).toEqual([...plain, ...made, ...waiting])
    expect(await paged('library', { queue: 'later' })).toEqual(waiting)
    expect(await paged('library', { schedule: 's' })).toEqual(made)
    expect(await paged('library', { schedule: 's', status: 'ready' })).toEqual(made)
    expect(await paged('library', { status: 'ready', queue: 'later' })).toEqual(waiting)
    await verbsAt(() => desk.context).schedules.pause('s', { reason: 'r' })
    expect(await paged('library', { status: 'held' })).toEqual(made)
    await desk.lease()
    expect(await paged('library', { status: 'leased' })).toEqual(plain)
  })

  it('and a run that another process makes while somebody pages is on no page twice, and on the next first page', async () => {
    const ids = await inTurn(4)
    const first = await desk.store.look(listRuns, { limit: 2 })
    const [newest = ''] = await inTurn(1)
    const second = await desk.store.look(listRuns, { limit: 2, before: first.next ?? '' })
    expect([...first.runs, ...second.runs].map(({ id }) => id)).toEqual(ids)
    expect((await desk.store.look(listRuns, { limit: 1 })).runs[0]?.id).toBe(newest)
  })

  it('and a place from before, which went by id, is refused with what to do', async () => {
    const [id = ''] = await inTurn(3, { notBefore: startAt + 86_400_000 })
    for (const [before, filter] of [
      [id, {}],
      [id, { status: 'held' }],
      [id, { status: 'leased' }],
      [`waiting/${id}`, { status: 'ready' }],
      [`${startAt}/${id}`, {}],
      [`made/${startAt}/${id}/1`, {}],
    ] as const) {
      const refused = await errorOf(verbsAt(() => desk.context).runs.list({ ...filter, before }))
      expect(refused.code).toBe('invalid')
      expect(refused.message).toContain(JSON.stringify(before))
      expect(refused.message).toContain('begin again at the first page')
    }
  })
})
