import { setTimeout as sleep } from 'node:timers/promises'
import { tasksOfProjectMax } from '../../../src/core/agent/task.ts'
import { always, comeToRest, type Fault } from '../fault.ts'

const workers = 5
/** Its workers put nothing in themselves. */
const clientMs = 3_600_000

/** The tasks of one full project, asked for at once and fired by five processes, of which one after the other is killed. */
export const manyTasks: Fault = {
  id: 'F32',
  title: 'the tasks of a project among five processes, kill -9',
  on: ['sqlite', 'postgres'],
  timesPerRound: 100,
  hasSchedules: false,
  async arrange(world) {
    world.choice = { clientMs }
    await world.startMany(workers)
    const made = await world.workload.placeTasks(tasksOfProjectMax + 10)
    if (made !== tasksOfProjectMax) world.troubles.push(`${made} tasks were made of ${tasksOfProjectMax} that may be`)
  },
  async inject(world, times) {
    for (let kills = 1; kills <= times; kills++) {
      await sleep(world.random.between(200, 2_000))
      const worker = world.pick()
      if (worker === undefined) return kills - 1
      await world.kill(worker)
      await world.start()
    }
    return times
  },
  settle: comeToRest,
  expect: always,
}
