import { afterEach, beforeEach, describe } from 'vitest'
import type { Capabilities } from '../../../src/core/queue/plan-leases.ts'
import { Events } from '../../../src/engine/events.ts'
import { kinds } from '../../../src/kinds.ts'
import { migrations } from '../../../src/open-store.ts'
import type { OperationContext } from '../../../src/operations/operation-context.ts'
import { Waits } from '../../../src/operations/run/waits.ts'
import { migrate } from '../../../src/store/migrations/migrate.ts'
import type { NewRun, Store } from '../../../src/store/port.ts'
import { openSqliteMemory } from '../../../src/store/sqlite/open.ts'
import { both, one } from '../../../src/store/statement.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { attemptFacts, checks, fields, holdReasons, origins, queues, sections } from '../../../src/table.ts'
import { actor, onEachStore, Stage, startAt } from '../../store/schedule-stage.ts'
import { verbsAt } from '../desk.ts'

const insertNamespace = both(
  'told namespace',
  `insert into belfry.namespace (id, name, created_at) values (1, 'default', 0)`,
)

/** A schedule store on its stage, with the verbs over it. */
export interface Told {
  readonly stage: Stage
  readonly verbs: ReturnType<typeof verbsAt>
  /** Makes somebody who is alive and can do this. */
  worker(can?: Capabilities, slots?: number): Promise<string>
  enqueue(run?: NewRun): Promise<string>
}

/** Tells the same sentences on SQLite and on PostgreSQL, by the verbs that every door calls. */
export function onEachTold(title: string, tell: (told: () => Told) => void): void {
  onEachStore(title, (stage) => tell(toldBy(stage)))
}

/** Tells sentences that no database can make true or false by itself, on the one that opens at once. */
export function onOneTold(title: string, tell: (told: () => Told) => void): void {
  describe(title, () => {
    let stage: Stage
    beforeEach(async () => {
      const time = { now: startAt }
      const database = openSqliteMemory({ now: () => time.now, monotonic: () => time.now })
      await migrate(database, migrations)
      await database.write(() => one(insertNamespace))
      stage = new Stage(database, 1, time)
    })
    afterEach(() => stage.store.close())
    tell(toldBy(() => stage))
  })
}

function toldBy(stage: () => Stage): () => Told {
  const clock = { now: () => stage().clock.now, monotonic: () => 0, after: () => () => undefined }
  const context = (): OperationContext => {
    const { store } = stage()
    const waits = new Waits({ store, clock, events: new Events() })
    const randomHex = (bytes: number) => '0'.repeat(2 * bytes)
    return {
      store,
      clock,
      actor,
      zone: 'UTC',
      folder: '/',
      defaultMaxConcurrent: 50,
      waits,
      attemptFacts,
      origins,
      holdReasons,
      checks,
      fields,
      kinds,
      queues,
      sections,
      randomHex,
    } as OperationContext
  }
  const verbs = verbsAt(context)
  return () => ({
    stage: stage(),
    verbs,
    worker: (can = { kinds: ['handler'] }, slots) => {
      const worker = { name: 'mill', host: 'mill-1', can, beatMs: 60_000, ...(slots !== undefined && { slots }) }
      return stage().store.do(registerWorker, worker)
    },
    async enqueue(run = {}) {
      const [answer] = await stage().store.enqueue([{ target: { handler: 'report' }, ...run }])
      return answer?.id ?? ''
    },
  })
}

/** Removes everything that retention no longer keeps. */
export async function pruneAll(store: Store): Promise<void> {
  for (let from: string | null = ''; from !== null; ) {
    const step = await store.prune({ limit: 1_000, ...(from !== '' && { from }) })
    from = step.next
  }
}
