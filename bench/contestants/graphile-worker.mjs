import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { payload, taskName } from '../work.mjs'

const logger = new Logger(() => () => undefined)

/** graphile-worker with the batching that its page on performance recommends; `setting` holds what is tried. */
export async function open(place, setting) {
  const utils = await makeWorkerUtils({ connectionString: place.url, logger })
  await utils.migrate()
  let runner
  const left = async () => {
    const { rows } = await utils.withPgClient((client) =>
      client.query('select count(*)::int as left from graphile_worker._private_jobs'),
    )
    return rows[0].left
  }
  return {
    async fill(count) {
      for (let rest = count; rest > 0; rest -= 1_000) {
        await utils.addJobs(Array.from({ length: Math.min(rest, 1_000) }, () => ({ identifier: taskName, payload })))
      }
    },
    addOne: () => utils.addJob(taskName, payload),
    async start({ began, ended }) {
      runner = await run({
        preset: { worker: { connectionString: place.url, logger, ...setting.worker } },
        noHandleSignals: true,
        taskList: { [taskName]: () => began() },
      })
      runner.events.on('job:complete', () => ended(1))
    },
    // It tells that a job is complete before that is written, so the end of the last one is looked for in its table.
    async settled() {
      while ((await left()) > 0);
    },
    async close() {
      await runner?.stop()
      await utils.release()
    },
  }
}
