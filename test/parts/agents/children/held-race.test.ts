import { expect, it, onTestFinished } from 'vitest'
import type { TokenCaller } from '../../../../src/operations/token/token-caller.ts'
import { knowsRunToken } from '../../../../src/parts/agents/children/run-token.ts'
import { createTask } from '../../../../src/parts/agents/tasks/put-task.ts'
import { bound } from '../../../../src/store/audit/audited.ts'
import type { AuditEntry, Store } from '../../../../src/store/port.ts'
import { run } from '../../../../src/store/statement.ts'
import type { StoreContext } from '../../../../src/store/store-context.ts'
import { openGate } from '../../../gate.ts'
import { lendSchema, returnSchema } from '../../../lent-schema.ts'
import { Desk } from '../../../operations/desk.ts'
import { postgresUrl } from '../../../postgres.ts'
import { verbsOf } from '../tasks/scene.ts'
import { agentVerbs, atWork } from './scene.ts'

type Gate = Awaited<ReturnType<typeof openGate>>
type Asked = Parameters<typeof createTask>

/** A store in which each transaction that creates a task waits at the gate before it commits. */
function slowStore(store: Store, gate: Gate): Store {
  function* slowly(context: StoreContext, task: Asked[1], by: Asked[2]) {
    const made = yield* createTask(context, task, by)
    yield* run(gate.waitsAt)
    return made
  }
  return new Proxy(store, {
    get(own, name) {
      if (name === 'audited') return (entry: AuditEntry) => slowStore(own.audited(entry), gate)
      if (name !== 'do') return bound(own, name)
      return (verb: unknown, ...given: [never]) => own.do((verb === createTask ? slowly : verb) as never, ...given)
    },
  })
}

// SQLite has one writer at a time, so no task can be planned while a hold is written.
it.each(['put', 'lifted'] as const)(
  'a task that is being planned while a hold on its parent is %s has what its parent has (PostgreSQL)',
  async (how) => {
    const place = { url: postgresUrl(), schema: lendSchema() }
    const desk = await Desk.open(place)
    const gate = await openGate()
    onTestFinished(async () => {
      await gate.open()
      await desk.store.close()
      await returnSchema(place.schema)
    })
    const { task, token } = await atWork(desk)
    const { holds } = verbsOf(desk)
    const hold = { on: `schedule:${task.name}`, reason: 'Audit.' }
    const before = how === 'lifted' ? await holds.put(hold) : null
    const { scope, ...actor } = (await knowsRunToken(desk.store, token)) as TokenCaller
    const store = slowStore(desk.store, gate)
    const agent = agentVerbs({ ...desk.context, store, actor: { ...actor, door: 'http' }, scope })
    const planning = agent.plan({ in: '20m', prompt: 'Look again.' })
    let planner: number | undefined
    let isPlanned = false
    planning.finally(() => {
      isPlanned = true
    })
    while (planner === undefined && !isPlanned) planner = await gate.waiterOf(gate.pid)

    let isAnswered = false
    const turning = (before === null ? holds.put(hold) : holds.lift(before.id)).finally(() => {
      isAnswered = true
    })
    while (!isAnswered && (await gate.waiterOf(planner as number)) === undefined);
    await gate.open()
    const [{ task: child }] = await Promise.all([planning, turning])
    const held = (await holds.list()).map(({ on }) => on)
    expect(held).toEqual(how === 'put' ? [`schedule:${task.name}`, `schedule:task-${child.id}`] : [])
  },
)
