import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { workerOperations } from '../../src/operations/worker/noun.ts'
import { ownIdentity, type ProcessIdentity } from '../../src/store/workers/process-identity.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { doors, tokenFor } from '../doors/all-doors.ts'
import { shown as shownBy } from '../doors/cli/shown.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { postgresUrl } from '../postgres.ts'
import { Desk, startAt, verbsAt } from './desk.ts'

const minuteMs = 60_000

describe.each(['SQLite', 'PostgreSQL'])(
  'a worker that was killed is listed as dead, and not as stopped (%s)',
  (database) => {
    let desk: Desk
    let leave: () => Promise<void>
    const verbs = verbsAt(() => desk.context)
    const can = { kinds: ['handler'] }

    beforeEach(async () => {
      const schema = database === 'PostgreSQL' ? lendSchema() : undefined
      desk = await Desk.open(schema === undefined ? {} : { url: postgresUrl(), schema })
      desk.token = await tokenFor(desk)
      leave = async () => {
        await desk.store.close()
        if (schema !== undefined) await returnSchema(schema)
      }
    })
    afterEach(() => leave())

    /** A worker that holds a run that may be repeated and one that may not, as others find it after its death. */
    async function killed(): Promise<{ workerId: string; runs: string[] }> {
      const workerId = await desk.store.do(registerWorker, { name: 'killed', host: 'h', can, beatMs: minuteMs })
      const made = await desk.store.enqueue([
        { target: { handler: 'a' } },
        { target: { handler: 'a' }, repeatable: false },
      ])
      await desk.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 2, leaseMs: minuteMs })
      desk.clock.advance(5_000)
      await desk.store.reclaim({ deadWorkers: [workerId], expired: false, limit: 10 })
      await desk.store.beat([workerId], { died: true })
      return { workerId, runs: made.map(({ id }) => id) }
    }

    it.each(['library', 'http', 'mcp', 'cli'] as const)(
      'with when, and what became of its runs, at this door: %s',
      async (door) => {
        const { workerId, runs } = await killed()
        const said = (await doors[door](desk, workerOperations.list, {})) as { answer: unknown }
        expect(said.answer).toMatchObject([
          {
            id: workerId,
            isLive: false,
            isDead: true,
            stoppedAt: null,
            beatAt: expect.anything(),
            diedAt: expect.anything(),
            lost: {
              count: 2,
              runs: expect.arrayContaining([
                { id: runs[0], status: 'ready', reason: 'its worker died' },
                { id: runs[1], status: 'parked', reason: 'effect-unknown' },
              ]),
            },
          },
        ])
      },
    )

    it('and is shown so to people, while one that stopped is shown as stopped', async () => {
      const { workerId, runs } = await killed()
      const stopped = await desk.store.do(registerWorker, { name: 'stopped', host: 'h', can, beatMs: minuteMs })
      await desk.store.beat([stopped], { stopped: true })
      const listed = await verbs.workers.list()
      expect(listed.map(({ name, isDead, stoppedAt }) => [name, isDead, stoppedAt])).toEqual([
        ['stopped', false, startAt + 5_000],
        ['killed', true, null],
      ])
      const shown = await shownBy(workerOperations.list, listed, { now: desk.clock.now() })
      expect(shown).toMatch(/ dead, last heartbeat 5 s ago /)
      expect(shown).toContain(`${workerId}: 2 runs were reclaimed: `)
      expect(shown).toContain(`${runs[1]} as parked (effect-unknown)`)
      expect(shown).toMatch(/ stopped now | stopped 0 s ago | stopped just now /)
    })

    it('is said to hold runs only while it does, and its runs are told as they were taken back', async () => {
      const shownOf = async () => {
        return shownBy(workerOperations.list, await verbs.workers.list(), { now: desk.clock.now() })
      }
      // Another process had this id before.
      const process = { ...(ownIdentity() as ProcessIdentity), startedAt: '1' }
      const workerId = await desk.store.do(registerWorker, {
        name: 'killed',
        host: 'h',
        can,
        beatMs: minuteMs,
        process,
      })
      expect(await verbs.workers.list()).toMatchObject([{ isDead: true, diedAt: null, unreclaimed: 0 }])
      expect(await shownOf()).toContain(`${workerId} held no run when it died.`)
      const [run] = await desk.store.enqueue([{ target: { handler: 'a' } }])
      await desk.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 2, leaseMs: minuteMs })
      expect(await verbs.workers.list()).toMatchObject([{ isDead: true, unreclaimed: 1 }])
      expect(await shownOf()).toContain(`${workerId} died. It still holds 1 run until a worker reclaims it.`)
      await desk.store.reclaim({ deadWorkers: [workerId], expired: false, limit: 10 })
      await verbs.runs.cancel(run?.id as string)
      expect(await shownOf()).toContain(`${workerId}: 1 run was reclaimed: ${run?.id} as ready (its worker died).`)
    })

    it('and stays dead when a beat of it comes late, and is passed by no page', async () => {
      const { workerId } = await killed()
      await desk.store.beat([workerId])
      await desk.store.beat([workerId], { stopped: true })
      expect(await verbs.workers.list({ stopped: true })).toMatchObject([
        { id: workerId, isDead: true, stoppedAt: null },
      ])
      const [last] = await verbs.workers.list({ limit: 1 })
      expect(workerOperations.list.nextPage?.([last as never], { limit: 1 } as never)).toEqual({
        after: workerId,
        stopped: true,
      })
    })
  },
)
