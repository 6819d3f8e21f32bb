import { mkdtempSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HttpDoor } from '../../../src/doors/http/http-door.ts'
import { openStore } from '../../../src/open-store.ts'
import { storeOperations } from '../../../src/operations/store/noun.ts'
import { listAttempts } from '../../../src/store/reads/list-attempts.ts'
import { listRuns } from '../../../src/store/reads/list-runs.ts'
import { openHandle } from '../../../src/store/sqlite/driver.ts'
import { Desk, errorOf } from '../../operations/desk.ts'
import { scratchFolder } from '../../scratch.ts'
import { refusalOf } from '../refusal.ts'

let folder: string
let file: string
let url: string
beforeEach(() => {
  folder = mkdtempSync(join(scratchFolder(), 'belfry-damage-'))
  file = join(folder, 'belfry.db')
  url = `sqlite:${file}`
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A store with rows in every table that is read while somebody looks at it, all of them in the file itself. */
async function filled(): Promise<void> {
  const desk = await Desk.open({ url })
  await desk.store.enqueue(Array.from({ length: 60 }, (_, index) => ({ payload: { index }, target: { handler: 'h' } })))
  await desk.lease()
  await desk.store.close()
}

function damagePage(rootOf: string): void {
  const handle = openHandle(file)
  const [{ page_size: size }] = handle.prepare('pragma page_size').all() as [{ page_size: number }]
  const found = handle.prepare('select rootpage from sqlite_schema where name = ?').get(rootOf) as { rootpage: number }
  handle.close()
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(size, 0xff), 0, size, (found.rootpage - 1) * size)
}

describe('A8: a damaged SQLite file', () => {
  it('is not ready, also where its pages are still in memory', async () => {
    await filled()
    const desk = await Desk.open({ url })
    const { context, events } = desk
    const door = new HttpDoor({ context, events, version: '1' })
    const ready = async () => {
      const response = await door.fetch(new Request('http://127.0.0.1:4747/ready'))
      return [response.status, await response.json()]
    }
    expect(await ready()).toEqual([200, { status: 'ready' }])
    expect(await desk.store.look(listRuns, { limit: 10 })).toMatchObject({ runs: { length: 10 } })
    damagePage('run')
    desk.clock.advance(30_000)
    expect(await ready()).toEqual([503, { status: 'not-ready' }])
    door.close()
    await desk.store.close()
  })

  it('is not ready from the moment in which a step has met the damage, however large it is', async () => {
    await filled()
    damagePage('attempt')
    const desk = await Desk.open({ url })
    await desk.store.condition()
    expect(await errorOf(desk.store.look(listAttempts, 'r-11'))).toMatchObject({ code: 'unavailable' })
    expect(await errorOf(desk.store.condition())).toMatchObject({ details: { damaged: true } })
    await desk.store.close()
  })

  it.each(['run', 'worker', 'lease', 'ready', 'attempt', 'namespace', 'queue', 'schedule', 'schedule_run'])(
    'is told by the doctor as damage, and not as something unforeseen: %s',
    async (table) => {
      await filled()
      const desk = await Desk.open({ url })
      damagePage(table)
      for (const fix of [false, true]) {
        const { ok, checks } = await storeOperations.doctor.call(desk.context, { fix })
        expect(ok).toBe(false)
        const integrity = checks.find(({ check }) => check === 'integrity')
        expect(integrity).toMatchObject({ state: 'wrong', says: expect.stringContaining('is damaged: ') })
        expect(integrity?.findings[0]?.next).toContain('backup')
      }
      await desk.store.close()
    },
  )

  it('whose row of the namespace is gone is told as damage too, where it is', async () => {
    await filled()
    const desk = await Desk.open({ url })
    damagePage('attempt')
    const handle = openHandle(file)
    handle.exec('delete from namespace')
    handle.close()
    const { ok, checks } = await storeOperations.doctor.call(desk.context, {})
    expect(ok).toBe(false)
    expect(checks.find(({ check }) => check === 'integrity')).toMatchObject({ state: 'wrong' })
    await desk.store.close()
  })
})

describe('A8: a store that was truncated to 0 bytes', () => {
  const refused = {
    code: 'unavailable',
    message: expect.stringContaining('belfry.db is empty: it was truncated to 0 bytes'),
    hint: expect.stringContaining('restore it from a backup'),
  }

  it('is refused with what to do, and is not made anew', async () => {
    await filled()
    truncateSync(file)
    expect(await refusalOf(openStore(url))).toMatchObject(refused)
    expect(await refusalOf(openStore(url, { mustExist: true }))).toMatchObject(refused)
    expect(statSync(file).size).toBe(0)
  })

  it('keeps the log that lies beside it, which may hold what was written last', async () => {
    await filled()
    writeFileSync(`${file}-wal`, 'a log')
    truncateSync(file)
    expect(await refusalOf(openStore(url))).toMatchObject(refused)
    expect(statSync(`${file}-wal`).size).toBe(5)
  })

  it('is noticed by those who have it open', async () => {
    const desk = await Desk.open({ url })
    truncateSync(file)
    desk.clock.advance(1_000)
    expect(await errorOf(desk.store.enqueue([{}]))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('was truncated to 0 bytes while it was open here'),
    })
  })

  it('is never what a new store looks like, so that several may make it at once', async () => {
    const stores = await Promise.all(Array.from({ length: 3 }, () => openStore(url)))
    for (const store of stores) await store.enqueue([{}])
    expect((await stores[0]?.look(listRuns, { limit: 10 }))?.runs).toHaveLength(3)
    for (const store of stores) await store.close()
    expect(readdirSync(folder).filter((name) => name.includes('.new-'))).toEqual([])
  })
})

describe('A8: what lies beside a SQLite file and is deleted under a worker', () => {
  it.each(['-wal', '-shm'])('is noticed like the file itself, by reads and by writes: %s', async (suffix) => {
    const desk = await Desk.open({ url })
    await desk.store.enqueue([{}])
    rmSync(`${file}${suffix}`)
    const lost = {
      code: 'unavailable',
      message: `${file}${suffix} was deleted or replaced while ${file} was open here.`,
      hint: expect.stringContaining('Stop every process that uses this store'),
    }
    desk.clock.advance(1_000)
    expect(await errorOf(desk.store.enqueue([{}]))).toMatchObject(lost)
    expect(await errorOf(desk.store.look(listRuns, { limit: 1 }))).toMatchObject(lost)
  })
})
