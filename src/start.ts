import { Belfry, type HandlerRun } from './index.ts'

/** What `npm start` shows today: a worker at work, on a store that vanishes with the process. */
const say = (line = '') => process.stdout.write(`${line}\n`)
const at = (instant: number) => new Date(instant).toISOString().slice(11, 23)

const reportsWanted = 3

say('Belfry: one durable scheduler. There is no command line yet, so this is the library at work, in memory.')
say('It fires a handler and a command every second, takes one run by hand, and ends after three reports.')
say()

const belfry = await Belfry.open({ store: 'memory:' })
const report = belfry.handle('report', (run: HandlerRun<{ day: string }>) => ({ day: run.payload.day, rows: 42 }))

let reports = 0
const enough = new Promise<void>((resolve) => {
  belfry.on('schedule.fired', ({ schedule, runId, occurrenceAt }) => {
    say(`fired      ${schedule}: ${runId}, planned for ${at(occurrenceAt)}`)
  })
  belfry.on('run.completed', async ({ runId, durationMs }) => {
    const [{ result, source, target }, output] = await Promise.all([belfry.runs.get(runId), belfry.runs.output(runId)])
    const said = output === null ? JSON.stringify(result?.value) : output.text.trim()
    say(`completed  ${runId} (${source}) in ${durationMs} ms: ${said}`)
    if (target !== null && 'handler' in target && source !== 'enqueued' && ++reports === reportsWanted) resolve()
  })
})

const every = { every: '1s', startNow: true } as const
await belfry.schedules.put({ name: 'report', ...every, target: report.target, payload: { day: 'today' } })
await belfry.schedules.put({ name: 'clock', ...every, target: { command: ['date', '-u'] } })
await belfry.start({ closeOnSignals: true })
const { id } = await report.enqueue({ day: 'yesterday' })
say(`enqueued   ${id} by hand: ${(await report.wait(id)).status}`)
await enough
await belfry.close()
say()
say('Next: README.md shows how to use it, examples/library is a program to copy, npm test runs everything.')
