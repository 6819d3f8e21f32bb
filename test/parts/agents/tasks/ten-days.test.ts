import { expect, it } from 'vitest'
import { cron } from '../../../../src/core/cron/cron.ts'
import type { Lease } from '../../../../src/store/port.ts'
import { listLedger } from '../../../../src/store/reads/find-schedule.ts'
import { listAttempts } from '../../../../src/store/reads/list-attempts.ts'
import { listRuns } from '../../../../src/store/reads/list-runs.ts'
import { registerWorker } from '../../../../src/store/workers/register-worker.ts'
import { Random } from '../../../faults/random.mjs'
import { type Desk, startAt } from '../../../operations/desk.ts'
import { atEachDesk, day, minute, verbsOf } from './scene.ts'

const endAt = startAt + 10 * day
const leaseMs = 5 * minute
const crons = ['0 9 * * 1-5', '*/30 * * * *', '0 */2 * * *', '15 3 * * *', '0 0 * * 0']
const zones = ['UTC', 'Europe/Paris', 'America/New_York']

/** The tasks of one project: calendars of all kinds, and one-shots at any minute of the ten days. */
async function fill(desk: Desk, random: Random) {
  const { tasks } = verbsOf(desk)
  const made: { name: string; cron?: string; zone?: string; at?: number }[] = []
  for (let number = 0; number < 50; number++) {
    const prompt = `Task ${number}.`
    if (number % 5 === 4) {
      const at = startAt + random.whole(1, 10 * 24 * 60 - 1) * minute
      const { task } = await tasks.create({ at: new Date(at).toISOString(), prompt })
      made.push({ name: task.name, at })
      continue
    }
    const timing = { cron: random.pick(crons) as string, zone: random.pick(zones) as string }
    const rules = random.pick([{ missed: 'all', maxLateness: '30d' }, { missed: 'once' }, { missed: 'skip' }])
    const { task } = await tasks.create({
      ...timing,
      prompt,
      ...(rules as object),
      endAt: new Date(endAt).toISOString(),
    })
    made.push({ name: task.name, ...timing })
  }
  return made
}

/** Five workers. Each may be killed with every lease that it holds. */
class Workers {
  readonly #desk: Desk
  readonly #random: Random
  readonly #held = new Map<string, Lease[]>()
  #claims = 0

  constructor(desk: Desk, random: Random) {
    this.#desk = desk
    this.#random = random
  }

  async hire(): Promise<void> {
    const can = { kinds: ['agent'] }
    while (this.#held.size < 5) {
      const worker = { name: 'w', host: 'h', can, beatMs: minute }
      this.#held.set(await this.#desk.store.do(registerWorker, worker), [])
    }
  }

  /** Fires and leases, and then ends some of the leased runs, or dies before that. */
  async act(): Promise<void> {
    const { store } = this.#desk
    for (const [workerId, held] of this.#held) {
      await store.fireDue({ limit: 20 })
      await store.reclaim({ limit: 100 })
      if (this.#random.next() < 0.1) {
        this.#held.delete(workerId)
        continue
      }
      const claimId = `claim ${++this.#claims}`
      const can = { kinds: ['agent'] }
      const { leases } = await store.lease({ queue: 'agents', workerId, claimId, can, limit: 2, leaseMs })
      const all = [...held, ...leases]
      const ends = all.filter(() => this.#random.next() < 0.8)
      await store.settle(
        ends.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome: { kind: 'success' } })),
      )
      this.#held.set(
        workerId,
        all.filter((lease) => !ends.includes(lease)),
      )
    }
    await this.hire()
  }
}

// The workers are five rows of one process, so that ten days pass in seconds; the fault F32 kills five real processes.
atEachDesk('ten days of 50 tasks with five workers of one process that die', (desk, kind) => {
  // One history takes seven times as long on PostgreSQL.
  it.each(kind === 'SQLite' ? [1, 2, 3] : [4])(
    'have one end for each occurrence, and none two (seed %i)',
    async (seed) => {
      const random = new Random(seed)
      const made = await fill(desk(), random)
      const workers = new Workers(desk(), random)
      await workers.hire()
      for (let now = startAt; now < endAt + day; ) {
        // Usually a few minutes pass; sometimes all workers are away for hours.
        const step = random.next() < 0.03 ? random.whole(60, 600) : random.whole(5, 40)
        desk().clock.advance(step * minute)
        now += step * minute
        await workers.act()
      }
      const ends = await judge(desk(), made)
      expect(ends.breaches).toEqual([])
      // Both cases occurred: prompts about which a person was asked, and runs whose worker died.
      expect(ends.asked).toBeGreaterThan(0)
      expect(ends.lost).toBeGreaterThan(0)
    },
  )
})

async function judge({ store }: Desk, made: Awaited<ReturnType<typeof fill>>) {
  const breaches: string[] = []
  let asked = 0
  let lost = 0
  for (const { name, cron: expression, zone = 'UTC', at } of made) {
    const ledger = await store.look(listLedger, name, { limit: 1_000 })
    const due = expression === undefined ? [at as number] : instants(expression, zone)
    for (const instant of due) {
      const rows = ledger.filter(({ from, to }) => from <= instant && instant <= to)
      if (rows.length !== 1) breaches.push(`${name} has ${rows.length} ends for ${new Date(instant).toISOString()}`)
    }
    const counted = ledger.reduce((sum, { count }) => sum + count, 0)
    if (counted !== due.length) breaches.push(`${name} counts ${counted} occurrences of ${due.length}`)
    asked += ledger.filter(({ outcome }) => outcome === 'asked').length
    const { runs } = await store.look(listRuns, { schedule: name, limit: 1_000 })
    const occurrences = runs.map(({ occurrenceAt }) => occurrenceAt)
    if (new Set(occurrences).size < runs.length) breaches.push(`${name} has two runs for one occurrence`)
    for (const { id, status } of runs) {
      const attempts = await store.look(listAttempts, id)
      lost += attempts.filter(({ outcome }) => outcome === 'lost').length
      const own = attempts.filter((attempt) => attempt.ends !== null)
      if (own.length !== (status === 'parked' ? 0 : 1)) breaches.push(`${id} is ${status} with ${own.length} ends`)
    }
  }
  return { breaches, asked, lost }
}

function instants(expression: string, zone: string): number[] {
  const calendar = cron(expression, zone)
  const found: number[] = []
  for (let at = calendar.next(startAt); at !== null && at <= endAt; at = calendar.next(at)) found.push(at)
  return found
}
