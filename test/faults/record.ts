import type { Store } from '../../src/store/port.ts'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import type { RunSummary } from '../../src/store/views.ts'
import { accountUse } from './account-use.ts'
import { budgetUse } from './budget-use.ts'
import type { History, RecordedRun, RecordedSchedule } from './history.ts'
import { readWitness } from './witness.ts'
import { accountMost, ceilings } from './workload.ts'
import { leaseMs, type World } from './world.ts'

const pageMax = 1_000
const readsAtOnce = 20

/** Reads all that is known of a round that is over. */
export async function historyOf(world: World): Promise<History> {
  const { store, interruptions, closures, samples, troubles, promises } = world
  const schedules: RecordedSchedule[] = []
  for (const [name, promise] of promises) {
    schedules.push({ name, promise, ledger: await wholeLedger(store, name) })
  }
  return {
    runs: await allRuns(store),
    schedules,
    ceilings,
    witnessed: readWitness(world.witness),
    samples,
    account: { most: accountMost, sampled: world.accountSampled, left: await accountUse(store) },
    budget: { over: world.budgetOver, ...leftOf(await budgetUse(store)) },
    leaseMs,
    interruptions,
    closures,
    troubles,
  }
}

function leftOf(use: Awaited<ReturnType<typeof budgetUse>>): { left: number; attempts: number } {
  return { left: use?.reserved ?? 0, attempts: use?.attempts ?? 0 }
}

async function allRuns(store: Store): Promise<RecordedRun[]> {
  const runs: RecordedRun[] = []
  let before: string | null = null
  do {
    const page: { runs: RunSummary[]; next: string | null } = await store.look(listRuns, {
      limit: pageMax,
      ...(before === null ? {} : { before }),
    })
    for (let from = 0; from < page.runs.length; from += readsAtOnce) {
      const some = page.runs.slice(from, from + readsAtOnce)
      runs.push(...(await Promise.all(some.map((run) => recorded(store, run)))))
    }
    before = page.next
  } while (before !== null)
  return runs
}

async function recorded(store: Store, run: RunSummary): Promise<RecordedRun> {
  const { id, queue, schedule, occurrenceAt, repeatable, concurrencyKey, idempotencyKey, status, fence, lease } = run
  const attempts = await store.look(listAttempts, id)
  const known = { id, queue, schedule, occurrenceAt, repeatable, concurrencyKey, idempotencyKey, status, fence }
  const account = (run.options as { account?: readonly string[] } | null)?.account?.[0]
  return { ...known, leasedAt: lease?.leasedAt ?? null, attempts, account }
}

async function wholeLedger(store: Store, name: string): Promise<RecordedSchedule['ledger']> {
  const rows: RecordedSchedule['ledger'][number][] = []
  for (;;) {
    const before = rows.at(-1)?.from
    const page = await store.look(listLedger, name, { limit: pageMax, ...(before === undefined ? {} : { before }) })
    rows.push(...page)
    if (page.length < pageMax) return rows
  }
}
