import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EndFacts } from '../../src/core/run/expect.ts'
import type { NewRun } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import type { Attempt } from '../../src/targets/attempt.ts'
import { commandExecutor } from '../../src/targets/command/command-executor.ts'
import { httpExecutor } from '../../src/targets/http/http-executor.ts'
import { secretResolver } from '../../src/targets/secret.ts'
import { faulty } from './faulty-store.ts'
import { deferred, openPlace, type Stage, settleDown, stage, stopped } from './stage.ts'

const places = ['memory:', 'postgres'] as const
const kinds: [string, NewRun, EndFacts][] = [
  ['handler', { target: { handler: 'work' } }, {}],
  ['command', { target: { command: ['work'] } }, { exitCode: 0 }],
  ['http request', { target: { http: { url: 'http://127.0.0.1/' } } }, { status: 200 }],
]

/** Everything that is recorded of a run that succeeded after a cancel was requested. */
async function expectLateCancel(here: Stage, id: string): Promise<void> {
  await here.when(() => here.of('run.completed').length + here.of('run.cancelled').length > 0)
  expect(here.of('run.cancelled')).toEqual([])
  expect(await here.store.look(findRun, id)).toMatchObject({ status: 'completed', end: { reason: 'late-cancel' } })
  expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'success', reason: 'late-cancel' }])
}

describe.each(places)('a success after a cancel request stands and is marked late-cancel (%s)', (place) => {
  describe.each(kinds)('of a %s', (_, run, facts) => {
    it('that ends well after it was told to stop, also when it is not repeatable', async () => {
      const here = await stage({ place })
      const work = async (attempt: Attempt) => {
        await stopped(attempt)
        return { facts }
      }
      here.handlers.set('work', work)
      for (const kind of ['command', 'http']) here.kinds.set(kind, work)
      await here.engine.start()
      const id = await here.enqueue({ ...run, repeatable: false })
      await here.until('run.started')
      expect(await here.store.do(cancelRun, id, 'not needed')).toBe('cancel-requested')
      await expectLateCancel(here, id)
    })

    it('that ends well before its worker hears of the request', async () => {
      const world = faulty(await openPlace({ place }))
      onTestFinished(() => world.store.close())
      world.losesWakes = true
      const here = await stage({ store: world.store })
      const gate = deferred()
      const work = () => gate.promise.then(() => ({ facts }))
      here.handlers.set('work', work)
      for (const kind of ['command', 'http']) here.kinds.set(kind, work)
      const id = await here.enqueue(run)
      await here.engine.start()
      await here.until('run.started')
      expect(await here.store.do(cancelRun, id, 'not needed')).toBe('cancel-requested')
      gate.resolve()
      await expectLateCancel(here, id)
    })

    it('that ended well before the request, which comes while its end is being written', async () => {
      const world = faulty(await openPlace({ place }))
      onTestFinished(() => world.store.close())
      const here = await stage({ store: world.store })
      const [asked, slow] = [deferred(), deferred()]
      world.fault = (verb, call) => {
        if (verb !== 'settle' || call !== 1) return undefined
        asked.resolve()
        return slow.promise
      }
      const work = async () => ({ facts })
      here.handlers.set('work', work)
      for (const kind of ['command', 'http']) here.kinds.set(kind, work)
      const id = await here.enqueue(run)
      await here.engine.start()
      await asked.promise
      expect(await here.store.do(cancelRun, id, 'not needed')).toBe('cancel-requested')
      await settleDown()
      slow.resolve()
      await expectLateCancel(here, id)
    })
  })
})

function bound(of: Attempt, value: unknown): unknown {
  return typeof value === 'function' ? value.bind(of) : value
}

/** The attempt, whose first output is heard. */
function hearing(attempt: Attempt, heard: () => void): Attempt {
  return new Proxy(attempt, {
    get(of, name) {
      if (name !== 'output') return bound(of, Reflect.get(of, name, of))
      return (text: string) => {
        of.output(text)
        heard()
      }
    },
  })
}

describe('what counts as a success after a cancel request', () => {
  it('is a program that exits 0, and not one that the signal ended', async () => {
    const here = await stage({ settings: { leaveAfterMs: 30_000 } })
    const command = commandExecutor({ killAfterMs: 20_000 })
    let up = deferred()
    here.kinds.set('command', (attempt) => command(hearing(attempt, () => up.resolve())))
    await here.engine.start()
    const cancelOnceUp = async (text: string, count: number) => {
      up = deferred()
      const id = await here.enqueue({ target: { command: text } })
      await up.promise
      await here.store.do(cancelRun, id, 'not needed')
      await here.when(() => here.of('run.completed').length + here.of('run.cancelled').length === count)
      return (await here.store.look(findRun, id))?.status
    }
    const waits = 'echo up; while :; do sleep 0.01; done'
    expect(await cancelOnceUp(`trap 'exit 0' TERM; ${waits}`, 1)).toBe('completed')
    expect(await cancelOnceUp(waits, 2)).toBe('cancelled')
    expect(await cancelOnceUp(`trap 'exit 3' TERM; ${waits}`, 3)).toBe('cancelled')
  })

  it('is an answer that came before the request was cut off, and not one that was cut off', async () => {
    const asked = deferred()
    const server = createServer((_request, response) => {
      response.writeHead(200).write('half of the answer')
      asked.resolve()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise((resolve) => server.once('listening', resolve))
    const secrets = secretResolver({ env: {}, folder: null })
    const http = httpExecutor({ network: {}, secrets })
    const here = await stage()
    here.kinds.set('http', http.execute)
    await here.engine.start()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const id = await here.enqueue({ target: { http: { url } } })
    await asked.promise
    await here.store.do(cancelRun, id, 'not needed')
    expect(await here.until('run.cancelled')).toMatchObject({ runId: id, reason: 'not needed' })
    await http.close()
  })

  it('is judged by what the run expects of it', async () => {
    const here = await stage()
    here.handle('work', async (attempt) => {
      await stopped(attempt)
      return { rows: 0 }
    })
    await here.engine.start()
    const options = { expect: { json: { rows: 1 } } }
    const id = await here.enqueue({ target: { handler: 'work' }, options })
    await here.until('run.started')
    await here.store.do(cancelRun, id, 'not needed')
    expect(await here.until('run.cancelled')).toMatchObject({ runId: id })
  })
})
