import { Belfry } from '../../dist/index.js'
import { medianOf, percentile } from '../figures.mjs'

const batch = 1_000
const project = '/srv/app'

/**
 * Sessions that take messages and acknowledge them, beside hosts that lease runs and complete them: as many of each, with as much for each.
 * Both take turns on one store, so that what disturbs the machine disturbs both alike.
 */
export async function run(bench) {
  const sessions = bench.quick ? 50 : 200
  const each = bench.quick ? 10 : 50
  const rows = []
  for (const database of ['sqlite', 'postgres']) {
    const rounds = []
    for (let round = 0; round < bench.rounds; round++) {
      bench.say(`round ${round + 1} of ${bench.rounds}: ${sessions} sessions on ${database}, ${each} messages each`)
      rounds.push(
        await bench.within(database, undefined, (place) =>
          bench.child(import.meta.url, { place, sessions, each }, { timeoutMs: 600_000 }),
        ),
      )
    }
    rows.push({ database, ...medianOf(rounds), rounds })
  }
  return { sessions, each, rows }
}

export async function child({ place, sessions, each }) {
  const belfry = await Belfry.open({ store: place.store, log: false })
  const names = Array.from({ length: sessions }, (_, index) => `s-${index}`)
  await belfry.queues.set('hosts', { maxConcurrent: 1_000 })
  const messages = names.flatMap((session) =>
    Array.from({ length: each }, (_, count) => ({ target: { inbox: { session, prompt: `${session}/${count}` } } })),
  )
  const works = messages.map(({ target }) => ({ queue: 'hosts', target: null, payload: target }))
  for (let made = 0; made < messages.length; made += batch) {
    await belfry.runs.enqueueMany(messages.slice(made, made + batch))
    await belfry.runs.enqueueMany(works.slice(made, made + batch))
  }
  const took = { nextMs: [], leaseMs: [], ackMs: [], completeMs: [] }
  const seen = new Set()
  const timed = async (name, doing) => {
    const from = performance.now()
    const answer = await doing()
    took[name].push(performance.now() - from)
    return answer
  }
  for (let count = 0; count < each; count++) {
    for (const name of names) {
      const { message } = await timed('nextMs', () => belfry.inbox.next({ session: name, project }))
      seen.add(message.prompt)
      await timed('ackMs', () => belfry.inbox.ack(message.id))
      const { leases } = await timed('leaseMs', () => belfry.sched.lease({ host: name, queue: 'hosts' }))
      await timed('completeMs', () => belfry.sched.complete({ lease: leases[0].lease }))
    }
  }
  const left = (await belfry.inbox.next({ session: 's-0', project })).message
  if (seen.size !== messages.length || left !== null) throw new Error('a message was not delivered exactly once')
  await belfry.close()
  const figures = Object.entries(took).map(([name, costs]) => [name, percentile(costs, 0.5)])
  const { nextMs, leaseMs, ...rest } = Object.fromEntries(figures)
  return { nextMs, leaseMs, ...rest, ratio: nextMs / leaseMs }
}
