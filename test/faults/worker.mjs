/**
 * One worker of the fault harness, as a process of its own: the engine over a store as the library ties them together,
 * and a client that puts work in. It loads what it needs, says `ready`, and does nothing before it is told to go, so that
 * one that was killed is replaced without waiting for modules to load. The library's face is left out because loading it
 * takes longer than most of these workers live.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../dist/core/clock.js'
import { isPassing } from '../../dist/core/error.js'
import { Engine } from '../../dist/engine/engine.js'
import { Events } from '../../dist/engine/events.js'

import { openStore } from '../../dist/open-store.js'
import { accounts } from '../../dist/parts/admission/accounts/part.js'
import { budgets } from '../../dist/parts/admission/budgets/part.js'
import { isProvenDead, ownIdentity } from '../../dist/store/workers/process-identity.js'

import { handlerExecutor } from '../../dist/targets/handler/handler-executor.js'
import { handlerKind } from '../../dist/targets/handler/kind.js'
import { endLeftovers } from '../../dist/targets/leftovers.js'
import { Random } from './random.mjs'

const askAgainMs = 50

/** Appends to a file outside the store: one line is one write, so that no kill can tear it. */
class Witness {
  #file
  #seq = 0

  constructor(path) {
    this.#file = openSync(path, 'a')
  }

  /** The lines are read by witness.ts. */
  say(kind, ...facts) {
    writeSync(this.#file, `${JSON.stringify([kind, Date.now(), process.pid, this.#seq++, ...facts])}\n`)
  }

  close() {
    closeSync(this.#file)
  }
}

/** What a run does: it shows itself to the witness, works for a while, fails as often as it was told to, and ends. */
function handlerFor(witness) {
  return async ({ id, attempt, payload, signal, usage }) => {
    witness.say('start', id, attempt)
    if (payload.tokens !== undefined) usage({ tokensOut: payload.tokens })
    if (attempt <= (payload.busyAttempts ?? 0)) {
      const until = performance.now() + payload.busyMs
      while (performance.now() < until);
    } else await sleep(payload.ms, undefined, payload.heeds === true ? { signal } : {})
    if (attempt <= (payload.failures ?? 0)) {
      witness.say('fail', id, attempt)
      throw new Error('as it was told')
    }
    witness.say('end', id, attempt)
    // A success without a result is written another way than one that has something to keep.
    return payload.ms % 2 === 0 ? undefined : { attempt, pid: process.pid }
  }
}

/** Of all that there is to do: plain work, failures, keys, a narrow queue, what must not repeat, and what takes long. */
function drawnRun(random, { busyShare, longShare, accountShare }) {
  const target = { handler: 'work' }
  const ms = random.whole(5, 60)
  if (accountShare > 0 && random.next() < accountShare) {
    const queue = random.pick(['work', 'keyed'])
    return { queue, target, options: { account: ['shared'] }, payload: { ms } }
  }
  const special = random.next()
  if (special < busyShare) {
    return { queue: 'work', target, payload: { ms, busyAttempts: 1, busyMs: random.whole(1_200, 2_200) } }
  }
  if (special < busyShare + longShare) {
    return { queue: 'work', target, payload: { ms: random.whole(300, 2_300), heeds: true } }
  }
  const kind = random.next()
  if (kind < 0.4) return { queue: 'work', target, payload: { ms } }
  if (kind < 0.5) return { queue: 'work', target, payload: { ms, failures: random.whole(1, 2) } }
  if (kind < 0.68) return { queue: 'keyed', target, concurrencyKey: `key ${random.whole(0, 3)}`, payload: { ms } }
  if (kind < 0.87) return { queue: 'narrow', target, payload: { ms: random.whole(80, 160) } }
  return { queue: 'work', target, repeatable: false, payload: { ms } }
}

/** Puts work in, a run at a time, each under a key of its own until the store has answered for it. */
class Client {
  isOpen = true
  #acks = 0
  #options

  constructor(options) {
    this.#options = options
  }

  async work() {
    const { seed, clientMs } = this.#options
    const random = new Random(seed)
    for (let number = 0; this.isOpen; number++) {
      await this.#putIn(`${process.pid}-${seed}-${number}`, drawnRun(random, this.#options))
      await sleep(clientMs * random.between(0.5, 1.5))
    }
  }

  async #putIn(key, run) {
    const { store, witness, armAtAck } = this.#options
    witness.say('ask', key)
    for (;;) {
      try {
        const [{ id }] = await store.enqueue([{ ...run, idempotencyKey: key }])
        witness.say('ack', key, id)
        if (++this.#acks === armAtAck) process.send?.({ armed: true })
        return
      } catch (error) {
        if (!isPassing(error)) throw error
        await sleep(askAgainMs)
        if (!this.isOpen) return
      }
    }
  }
}

/** As the library has it; a blind one proves nobody dead, which is how it is when workers are on several machines. */
function coronerOf(isBlind) {
  const own = ownIdentity()
  return {
    isDead: ({ process: other }) => !isBlind && other !== null && isProvenDead(other, own),
    endLeftovers: (leases) => endLeftovers(leases, { clock: systemClock }),
  }
}

/** A store that is away when a worker begins will be back; whoever runs workers would start this one again. */
async function patiently(ask) {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!isPassing(error)) throw error
      await sleep(askAgainMs)
    }
  }
}

async function go(options) {
  const witness = new Witness(options.witness)
  const { schema, connectionsMax } = options
  const store = await patiently(() => openStore(options.store, { schema, connectionsMax }))
  const events = new Events()
  events.on('run.lease-lost', ({ runId, fence, because }) => witness.say('refused', runId, fence, because))
  events.on('worker.failed', ({ loop, error }) => witness.say('defect', loop, String(error?.stack ?? error)))
  events.on('run.unsettled', ({ error }) => witness.say('defect', 'settle', String(error?.stack ?? error)))
  const engine = new Engine({
    store,
    clock: systemClock,
    events,
    executors: new Map([
      ['handler', { kind: handlerKind, named: new Map([['work', handlerExecutor(handlerFor(witness))]]) }],
    ]),
    coroner: coronerOf(options.isBlind),
    parts: [accounts, budgets],
    settings: { leaseMs: options.leaseMs, renewMs: options.renewMs },
  })
  const client = new Client({ ...options, store, witness })
  process.on('message', (message) => {
    if (message.quiet === true) client.isOpen = false
  })
  process.once('SIGTERM', async () => {
    client.isOpen = false
    await engine.stop({ graceMs: options.graceMs })
    await store.close()
    witness.close()
    process.exit(0)
  })
  await patiently(() => engine.start({ slots: options.slots }))
  witness.say('up', engine.workerId)
  process.send?.({ up: engine.workerId })
  await client.work()
}

process.once('disconnect', () => process.exit(3))
process.once('message', ({ go: options }) => go(options))
process.send?.({ ready: true })
