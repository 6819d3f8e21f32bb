import assert from 'node:assert/strict'
import { fireRoutine } from '../../../src/parts/routines/fire-routine.ts'
import { listRoutineEvents } from '../../../src/parts/routines/read-routines.ts'
import type { RoutineSpec } from '../../../src/parts/routines/routine-spec.ts'
import { createRoutine } from '../../../src/parts/routines/write-routine.ts'
import type { Store } from '../../../src/store/port.ts'
import { listLedger } from '../../../src/store/reads/find-schedule.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { actor, type Case, noop, type Stage } from '../place.ts'
import { assertEachRunStandsOnce } from '../record.ts'
import { put } from './schedules.ts'

const routine = 'on push'

async function fire(store: Store, deliveryId: string) {
  const answer = await store.do(fireRoutine, routine, { deliveryId, payload: { ref: 'main' }, actor })
  assert.notEqual(answer.answer, 'not-found')
  return answer as Exclude<typeof answer, { answer: 'not-found' }>
}

/** Every delivery several times, through several connections, all at once; answers what each of them was told. */
async function sendAll(stage: Stage, spec: RoutineSpec, deliveries: number) {
  const stores = await stage.openMany(4)
  const [first] = stores as [Store]
  await put(first, { name: 'report', timing: {} })
  await first.do(createRoutine, { name: routine, spec }, { actor })
  const sent = Array.from({ length: deliveries * stores.length }, (_, index) => {
    return fire(stores[index % stores.length] as Store, `delivery ${Math.floor(index / stores.length)}`)
  })
  return { first, answers: await Promise.all(sent) }
}

export const routines: Case[] = [
  {
    name: 'law 14: a delivery that is sent many times at once through many connections makes one run, and all are told which',
    async run(stage) {
      const { first, answers } = await sendAll(stage, { run: noop() }, 10)
      for (let delivery = 0; delivery < 10; delivery++) {
        const own = answers.filter(({ deliveryId }) => deliveryId === `delivery ${delivery}`)
        assert.deepEqual(own.map(({ answer }) => answer).sort(), ['duplicate', 'duplicate', 'duplicate', 'fired'])
        assert.equal(new Set(own.map(({ runId }) => runId)).size, 1)
      }
      const events = (await first.look(listRoutineEvents, routine, { limit: 100 })) ?? []
      assert.deepEqual(new Set(events.map(({ runId }) => runId)), new Set(answers.map(({ runId }) => runId)))
      assert.deepEqual([...new Set(events.map(({ repeats }) => repeats))], [3])
      assert.equal((await first.look(listRuns, { limit: 100 })).runs.length, 10)
      await assertEachRunStandsOnce(stage)
    },
  },
  {
    name: 'law 1: a routine that fires a schedule makes no occurrence and no second live run, whoever sends at the same moment',
    async run(stage) {
      const { first, answers } = await sendAll(stage, { schedule: 'report' }, 6)
      const fired = answers.filter(({ answer }) => answer === 'fired')
      assert.equal(fired.length, 1)
      assert.equal(answers.filter(({ answer }) => answer === 'overlap').length, 5)
      // Whatever became of a delivery the first time, all are told of the run that was live then.
      assert.deepEqual([...new Set(answers.map(({ runId }) => runId))], [fired[0]?.runId])
      const [run, ...others] = (await first.look(listRuns, { limit: 100 })).runs
      assert.deepEqual(others, [])
      assert.deepEqual([run?.source, run?.occurrenceAt], ['routine', null])
      assert.deepEqual(await first.look(listLedger, 'report'), [])
      await assertEachRunStandsOnce(stage)
    },
  },
]
