import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { haltReason } from '../../src/engine/halt.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { faulty } from './faulty-store.ts'
import { actor, openPlace, type Stage, settleDown, stage } from './stage.ts'

const target = { handler: 'work' }

function stopFile() {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-halt-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'STOP')
  return { path, put: (text = '') => writeFileSync(path, text), remove: () => rmSync(path) }
}

/** Work and a schedule that are there for whoever may start them. */
async function work(here: Stage): Promise<string> {
  here.handle('work', () => 'done')
  const spec = { name: 'tick', timing: { everyMs: 1_000 }, startNow: true, target }
  await here.store.do(putSchedule, spec, { mode: 'create', actor })
  return here.enqueue({ target })
}

/** Lets seconds pass until it was told: the file is read beside them. */
async function passUntil(here: Stage, clock: TestClock, name: 'worker.halted' | 'worker.resumed'): Promise<void> {
  while (here.of(name).length === 0) {
    clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const starts = (here: Stage) => [...here.of('run.started'), ...here.of('schedule.fired')]

describe('a worker whose process is disabled', () => {
  it('fires and leases nothing, whatever wakes it, and says so in the list of workers', async () => {
    const here = await stage({ halt: { disabled: 'BELFRY_DISABLED=1' } })
    const id = await work(here)
    await here.engine.start()
    expect(here.of('worker.halted')).toMatchObject([{ reason: 'BELFRY_DISABLED=1' }])
    await here.enqueue({ target })
    await here.engine.drain()
    expect(starts(here)).toEqual([])
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', fence: 0 })
    expect(await here.store.look(listWorkers)).toMatchObject([{ halted: 'BELFRY_DISABLED=1', can: { kinds: [] } }])
  })
})

describe('a STOP file', () => {
  it('that is there when the worker starts keeps it from starting anything until it is removed', async () => {
    const file = stopFile()
    file.put('Incident 4711\nasked for by Ada\n')
    const clock = new TestClock()
    const here = await stage({ clock, store: await openPlace({ clock }), halt: { stopFile: file.path } })
    const id = await work(here)
    await here.engine.start()
    expect(here.of('worker.halted')).toMatchObject([{ reason: `${file.path}: Incident 4711` }])
    await here.engine.drain()
    expect(starts(here)).toEqual([])
    file.remove()
    await passUntil(here, clock, 'worker.resumed')
    await here.until('run.completed', 2)
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'completed' })
  })

  it('that comes later stops the worker within a second, and is told in the list of workers', async () => {
    const file = stopFile()
    const clock = new TestClock()
    const here = await stage({ clock, store: await openPlace({ clock }), halt: { stopFile: file.path } })
    await work(here)
    await here.engine.start()
    await here.until('run.completed', 2)
    file.put()
    await passUntil(here, clock, 'worker.halted')
    const before = starts(here).length
    const id = await here.enqueue({ target })
    clock.advance(60_000)
    await here.engine.drain()
    expect(starts(here)).toHaveLength(before)
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready' })
    await settleDown()
    expect(await here.store.look(listWorkers)).toMatchObject([{ halted: file.path }])
  })

  it('stops a worker whose store is gone, which starts nothing when the store is back', async () => {
    const file = stopFile()
    const clock = new TestClock()
    const world = faulty(await openPlace({ clock }))
    const here = await stage({ clock, store: world.store, halt: { stopFile: file.path } })
    await here.engine.start()
    let isGone = true
    world.fault = () => (isGone ? 'before' : undefined)
    clock.advance(30_000)
    await here.until('store.unavailable')
    file.put('The database is moved.')
    await passUntil(here, clock, 'worker.halted')
    expect(here.of('worker.halted')).toMatchObject([{ reason: `${file.path}: The database is moved.` }])
    isGone = false
    const id = await work(here)
    clock.advance(60_000)
    await here.engine.drain()
    expect(starts(here)).toEqual([])
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready' })
  })

  // Root reads every file.
  it.runIf(process.getuid?.() !== 0)('that cannot be read stops as well: a person put it there', async () => {
    const file = stopFile()
    file.put('secret')
    chmodSync(file.path, 0)
    const here = await stage({ halt: { stopFile: file.path } })
    await here.engine.start()
    expect(here.of('worker.halted')).toMatchObject([{ reason: `${file.path} (EACCES)` }])
  })

  it('of any content is told as text: a folder, an empty one, a long line', async () => {
    const file = stopFile()
    file.put(`${'x'.repeat(5_000)}\n`)
    const here = await stage({ halt: { stopFile: file.path } })
    await here.engine.start()
    expect(here.of('worker.halted')).toMatchObject([{ reason: `${file.path}: ${'x'.repeat(200)}` }])
    const folder = await stage({ halt: { stopFile: tmpdir() } })
    await folder.engine.start()
    expect(folder.of('worker.halted')).toMatchObject([{ reason: `${tmpdir()} (EISDIR)` }])
  })

  it('that cannot even be looked at stops a caller that asks once, and one that is not there does not', async () => {
    const { path, put } = stopFile()
    expect(await haltReason({ stopFile: path })).toBe(null)
    symlinkSync(path, `${path}-link`)
    expect(await haltReason({ stopFile: `${path}-link` })).toBe(null)
    put('Incident 4711')
    expect(await haltReason({ stopFile: `${path}-link` })).toBe(`${path}-link: Incident 4711`)
    symlinkSync(`${path}-b`, `${path}-a`)
    symlinkSync(`${path}-a`, `${path}-b`)
    expect(await haltReason({ stopFile: `${path}-a` })).toBe(`${path}-a (ELOOP)`)
  })
})
