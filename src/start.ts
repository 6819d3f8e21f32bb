import { cron } from './core/cron/cron.ts'
import { openStore } from './store/open.ts'
import type { Store } from './store/port.ts'

/** What `npm start` shows today: that the core and the store work, on a store that vanishes with the process. */
const say = (line = '') => process.stdout.write(`${line}\n`)

say('Belfry: one durable scheduler. What is here today is its ground floor: the rules and the store.')
say('There are no workers and no commands yet; this walks through one occurrence in memory and ends.')
say()

const calendar = cron('0 9 * * 1-5', 'Europe/Paris')
const store = await openStore('memory:')
await walkThrough(store)
await store.close()

async function walkThrough(store: Store): Promise<void> {
  const now = await store.read.now()
  say(`calendar   0 9 * * 1-5 is: ${calendar.describe()}`)
  say(`           next: ${new Date(calendar.next(now) ?? 0).toISOString()}`)

  const actor = { name: 'npm start', door: 'cli' }
  const timing = { everyMs: 60_000 }
  await store.putSchedule(
    { name: 'hello', timing, startNow: true, target: { handler: 'hello' } },
    { mode: 'create', actor },
  )
  const fired = await store.fireDue({ limit: 10 })
  say(`schedule   hello, every minute, is due: it fired ${fired.runs.map(({ id }) => id).join(', ')}`)

  const can = { kinds: ['handler'] }
  const workerId = await store.registerWorker({ name: 'npm start', host: 'here', can, beatMs: 60_000 })
  const { leases } = await store.lease({ queue: 'default', workerId, claimId: 'npm start', can, limit: 1 })
  for (const { runId, fence, scheduleId, source } of leases) {
    say(`lease      ${runId} under fence ${fence}, planned because of ${source}`)
    const [settled] = await store.settle([{ runId, fence, scheduleId, outcome: { kind: 'success' } }])
    say(`settle     ${settled?.answer}: ${runId} is ${(await store.read.run(runId))?.status}`)
  }
  const schedule = await store.read.schedule('hello')
  say(`next       ${new Date(schedule?.nextRunAt ?? 0).toISOString()}, a minute after the end`)
  say()
  say('Next: npm test. README.md tells what works, docs/decisions why it is built this way.')
}
