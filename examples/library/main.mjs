// Belfry inside a program of your own: a handler, two schedules and a piece of work, on a SQLite file in ./.belfry.
//
//   node main.mjs             works until Ctrl-C
//   node main.mjs --runs 3    ends by itself after three runs of the schedule
//
// Stop it and start it again: the schedules and their history are still there, and the work is not done twice.
import { Belfry } from 'belfry'

const runsMax = process.argv[2] === '--runs' ? Number(process.argv[3]) : Number.POSITIVE_INFINITY

const belfry = await Belfry.open({ store: 'sqlite:./.belfry/belfry.db' })
console.log(`opened ${belfry.place}`)

// What a run with the target { handler: 'report' } does. What it returns is kept as the run's result, what it throws is
// a failure and is tried again. `run.signal` is aborted when it is cancelled, takes too long or must stop.
const report = belfry.handle('report', async (run) => {
  run.log(`counting rows, attempt ${run.attempt}`)
  return { day: run.payload.day, rows: 42 }
})

// A schedule is put, not created, so that the program may start any number of times: it says what should be.
const { answer } = await belfry.schedules.put({
  name: 'report',
  every: '2s',
  startNow: true,
  target: report.target,
  payload: { day: 'today' },
  timeout: '10s',
})
console.log(`schedule report was ${answer}`)
await belfry.schedules.put({ name: 'clock', every: '2s', startNow: true, target: { command: ['date', '-u'] } })

let reports = 0
const enough = new Promise((resolve) => {
  belfry.on('run.completed', async ({ runId }) => {
    const [{ source, target, result }, output] = await Promise.all([belfry.runs.get(runId), belfry.runs.output(runId)])
    if (target.command) {
      console.log(`command ${runId}: ${output.text.trim()}`)
      return
    }
    console.log(`report ${runId} (${source}): ${result.value.rows} rows for ${result.value.day}`)
    if (source !== 'enqueued' && ++reports >= runsMax) resolve('enough')
  })
})
belfry.on('run.failed', ({ runId, reason }) => console.log(`failed ${runId}: ${reason}`))

// Ctrl-C lets what is at work finish, at most for the grace; a second one does not wait any longer.
const interrupted = new Promise((resolve) => {
  process.once('SIGINT', () => {
    process.once('SIGINT', () => belfry.stop({ graceMs: 0 }))
    resolve('interrupted')
  })
})

await belfry.start({ slots: 20 })

// The same key and the same work is the same run, however often it is sent and whenever: `created` tells.
const { id, created } = await report.enqueue({ day: 'yesterday' }, { idempotencyKey: 'report of yesterday' })
const { status } = await report.wait(id)
console.log(`enqueued ${id}: ${created ? 'new' : 'known'}, ${status}`)

const [next] = await belfry.schedules.next('report', { count: 1 })
console.log(`next report ${next === undefined ? 'never' : new Date(next.at).toISOString()}`)

console.log(`stopping: ${await Promise.race([enough, interrupted])}`)
await belfry.stop({ graceMs: 25_000 })
await belfry.close()
console.log('stopped')
