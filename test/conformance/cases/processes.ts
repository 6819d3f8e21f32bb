import assert from 'node:assert/strict'
import { migrations } from '../../../src/open-store.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { type Case, cannotShare, noop, type Stage } from '../place.ts'
import { assertEachRunStandsOnce, count } from '../record.ts'

const loopDelayMsMax = 100
/** Measured on two cores under a load of seven: the fastest wrote 1.4 to 2.7 times as much as the slowest. */
const unfairnessMax = 10
const writersMax = 4

interface WriteReport {
  readonly steps: number
  readonly p99Ms: number
  readonly maxMs: number
}

export const processes: Case[] = [
  {
    name: 'four processes that write to one file without a pause: none blocks its own loop, and none is starved',
    skip: (subject) => cannotShare(subject) ?? (subject.dialect === 'sqlite' ? undefined : 'its writers do not wait'),
    async run(stage) {
      const store = await stage.openWithOwnClock()
      await stage.setPolicy(store, { maxConcurrent: 1_000 })
      const writers = Array.from({ length: writersMax }, () => stage.startChild({ task: 'write', forMs: 2_000 }))
      await Promise.all(writers.map(({ said }) => said))
      for (const writer of writers) writer.goOn()
      const reports = (await Promise.all(writers.map(({ report }) => report))) as WriteReport[]
      const told = JSON.stringify(reports)
      const steps = reports.map((one) => one.steps)
      for (const { p99Ms } of reports) assert.ok(p99Ms <= loopDelayMsMax, `a loop was blocked: ${told}`)
      assert.ok(Math.max(...steps) <= unfairnessMax * Math.min(...steps), `a process was starved: ${told}`)
      await assertEachRunStandsOnce(stage)
      assert.equal(await count(stage, 'belfry.attempt'), await count(stage, 'belfry.run'))
    },
  },
  {
    name: 'four processes that open a fresh place at once leave one schema, and all of them work on it',
    skip: cannotShare,
    async run(stage) {
      const children = Array.from({ length: writersMax }, () => stage.startChild({ task: 'migrate' }))
      const reports = await Promise.all(children.map(({ report }) => report))
      assert.deepEqual(
        reports,
        children.map(() => 'migrated'),
      )
      await assertFreshPlaceWorks(stage)
    },
  },
  {
    name: 'a process killed at any turn of its migration leaves the old schema or the new, and the next one opens it',
    skip: cannotShare,
    async run(stage) {
      // From the first statement over the middle to the moment before the commit, and the first steps after it.
      const turns = [1, 20, 90, 165, 184, 185, 186, 190]
      await Promise.all(
        turns.map(async (dieAt) => {
          const other = await stage.another()
          const child = other.startChild({ task: 'migrate', dieAt })
          assert.equal(await child.gone, null, `turn ${dieAt} was never reached: ${JSON.stringify(child.heard)}`)
          await assertFreshPlaceWorks(other)
        }),
      )
    },
  },
  {
    name: 'changeMark tells that somebody else has written, and is quiet about its own writes and about reads',
    skip: ({ dialect, isShared }) => {
      if (!isShared) return 'nobody else can write to it'
      return dialect === 'sqlite' ? undefined : 'it tells by notifications'
    },
    async run(stage) {
      const [mine, theirs] = [await stage.open(), await stage.open()]
      const mark = () => databaseOf(mine).changeMark()
      const atFirst = mark()
      assert.equal(mark(), atFirst)
      await mine.enqueue([noop()])
      await theirs.look(listRuns, { limit: 1 })
      assert.equal(mark(), atFirst, 'it spoke of our own write')
      await theirs.enqueue([noop()])
      const afterTheirs = mark()
      assert.notEqual(afterTheirs, atFirst, 'it was silent about another connection')
      const child = stage.startChild({ task: 'lease-and-hold', limit: 1, leaseMs: 60_000 })
      await child.said
      assert.notEqual(mark(), afterTheirs, 'it was silent about another process')
      await child.kill()
    },
  },
]

async function assertFreshPlaceWorks(stage: Stage): Promise<void> {
  const store = await stage.open()
  const applied = await stage.sql('select version from belfry.migration order by version')
  const known = migrations.map(({ version }) => version).toSorted((a, b) => a - b)
  assert.deepEqual(
    applied.map(({ version }) => Number(version)),
    known,
    'a migration was applied twice, or not at all',
  )
  assert.equal(await count(stage, 'belfry.namespace'), 1)
  const { lease } = await stage.lessor(store)
  const [made] = await store.enqueue([noop()])
  assert.deepEqual(
    (await lease(1)).map(({ runId }) => runId),
    [made?.id],
  )
}
