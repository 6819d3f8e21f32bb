import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { locateStore } from '../../src/doors/cli/session/store-location.ts'
import { Belfry } from '../../src/index.ts'
import { strangersAt } from '../../src/trust/strangers.ts'
import { TrustedStores } from '../../src/trust/trusted-store.ts'
import { giveAway, giveOne, isRoot, nobody, other, Stage } from './stage.ts'

const home = process.cwd()
afterEach(() => process.chdir(home))

const doors = [
  'up --once',
  'schedule list',
  'doctor',
  'mcp',
  'schedule create a --every 1h --handler h',
  'apply',
  'schedule list --server http://127.0.0.1:1',
]

/** A folder of mode 1777 with a store of the user nobody in it, and a folder of our own beneath. */
async function trap(): Promise<{ stage: Stage; own: string; store: string }> {
  const stage = new Stage()
  const shared = stage.folder('shared')
  chmodSync(shared, 0o1777)
  const store = await stage.store(shared)
  giveAway(dirname(store), nobody)
  return { stage, own: stage.folder('shared/own'), store }
}

// Only root can give a file to another user.
describe.skipIf(!isRoot)('a store that another user put into a shared folder', () => {
  it.each(doors)('is not obeyed by a user who works beneath it: %s', async (words) => {
    const { stage, own } = await trap()
    const { exit, stderr } = await stage.belfry(words, own)
    expect({ exit, ran: stage.ran }).toEqual({ exit: 6, ran: 0 })
    expect(stderr).toContain(`belongs to user ${nobody}`)
    expect(stderr).toMatch(/belfry trust --store[\s\S]*BELFRY_STORE/)
  })

  it('is not opened by a program that takes what lies in its folder', async () => {
    const { store } = await trap()
    process.chdir(dirname(dirname(store)))
    await expect(Belfry.open({ log: false })).rejects.toMatchObject({
      code: 'not-allowed',
      message: expect.stringContaining(`belongs to user ${nobody}`),
    })
    const named = await Belfry.open({ store: 'sqlite:./.belfry/belfry.db', log: false })
    await named.close()
  })

  it('is used by whoever names it, or has trusted it', async () => {
    const { stage, own, store } = await trap()
    expect((await stage.belfry('run list', own, { BELFRY_STORE: `sqlite:${store}` })).exit).toBe(0)
    expect((await stage.belfry(['run', 'list', '--store', `sqlite:${store}`], own)).exit).toBe(0)
    const { exit, stdout } = await stage.belfry('trust --store', own)
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining(`belongs to user ${nobody}`) })
    expect((await stage.belfry('up --once', own)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })

  it('is not trusted once it belongs to somebody else again', async () => {
    const { stage, own, store } = await trap()
    await stage.belfry('trust --store', own)
    expect((await stage.belfry('run list', own)).exit).toBe(0)
    giveAway(dirname(store), other)
    const { exit, stderr } = await stage.belfry('run list', own)
    expect({ exit, stderr }).toEqual({ exit: 6, stderr: expect.stringContaining(`belongs to user ${other}`) })
  })

  it('gives no secrets and gets no token where a store without a folder is named beneath it', async () => {
    const { stage, own, store } = await trap()
    for (const named of ['memory:', 'postgres://localhost/x']) {
      const folderOf = () => locateStore(named, { env: stage.env, folder: own }).belfryFolder
      expect(folderOf()).toBe(join(own, '.belfry'))
      new TrustedStores(stage.env).give(store, strangersAt(store, { from: own }))
      expect(folderOf()).toBe(dirname(store))
      rmSync(stage.env.XDG_STATE_HOME, { recursive: true })
    }
    giveAway(dirname(store), 0)
    expect(locateStore('memory:', { env: stage.env, folder: own }).belfryFolder).toBe(dirname(store))
  })

  it.each([
    ['its file', '.belfry/belfry.db'],
    ['its folder', '.belfry'],
    ['the folder that it lies in', '.'],
    ['a folder on the way to it', 'way'],
    ['a log beside it that SQLite would read', '.belfry/belfry.db-wal'],
  ])('is refused where only %s is the other user’s', async (_, path) => {
    const stage = new Stage()
    const [shared, own] = [stage.folder('shared'), stage.folder('shared/way/own')]
    await stage.store(shared)
    if (path.endsWith('-wal')) stage.terminal.write(`shared/${path}`, '')
    expect((await stage.belfry('run list', own)).exit).toBe(0)
    if (path.endsWith('-wal')) stage.terminal.write(`shared/${path}`, '')
    giveOne(join(shared, path), nobody)
    const { exit, stderr } = await stage.belfry('run list', own)
    expect({ exit, stderr }).toEqual({ exit: 6, stderr: expect.stringContaining(join(shared, path)) })
  })

  it.each(['theirs', 'theirs/ours'])(
    'is refused where another user owns %s, however far above it, and could replace all that lies below',
    async (path) => {
      const stage = new Stage()
      const [shared, own] = [stage.folder('theirs/ours/shared'), stage.folder('theirs/ours/shared/own')]
      await stage.store(shared)
      giveOne(stage.folder(path), nobody)
      const { exit, stderr } = await stage.belfry('up --once', own)
      expect({ exit, ran: stage.ran }).toEqual({ exit: 6, ran: 0 })
      expect(stderr).toContain(`${stage.folder(path)} belongs to user ${nobody}`)
      expect(stderr).toMatch(/belfry trust --store[\s\S]*BELFRY_STORE/)
      expect((await stage.belfry('trust --store', own)).exit).toBe(0)
      expect((await stage.belfry('up --once', own)).exit).toBe(0)
    },
  )

  it('is refused where a link of ours leads below a folder of another user', async () => {
    const stage = new Stage()
    await stage.store(stage.folder('theirs/ours'))
    giveOne(stage.folder('theirs'), nobody)
    symlinkSync(stage.folder('theirs/ours/.belfry'), join(stage.folder('own'), '.belfry'))
    expect(await stage.belfry('run list', stage.folder('own'))).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining(`${stage.folder('theirs')} belongs to user ${nobody}`),
    })
  })

  it('is not made in a folder of another user, who could put a different one in its place', async () => {
    const stage = new Stage()
    const theirs = stage.folder('theirs')
    giveOne(theirs, nobody)
    for (const words of ['up --once', 'schedule create a --every 1h --handler h', 'apply']) {
      expect((await stage.belfry(words, theirs)).exit, words).toBe(6)
    }
    expect(await stage.belfry('run list', theirs), 'a look').toMatchObject({ exit: 3 })
    expect(existsSync(join(theirs, '.belfry'))).toBe(false)
    expect((await stage.belfry('trust --store', theirs)).exit).toBe(0)
    expect((await stage.belfry('schedule create a --every 1h --handler h', theirs)).exit).toBe(0)
  })
})

describe('trust in a store', () => {
  it('is not trust in another store with whose path its own path ends', () => {
    const stage = new Stage()
    const [long, short] = ['/srv/a /srv/b/belfry.db', '/srv/b/belfry.db']
    const strangers = [{ path: '/srv', user: nobody }]
    const trusted = new TrustedStores(stage.env)
    trusted.give(long, strangers)
    expect([trusted.has(long, strangers), trusted.has(short, strangers)]).toEqual([true, false])
    trusted.give(short, [{ path: '/srv', user: other }])
    expect([trusted.has(long, strangers), trusted.has(short, strangers)]).toEqual([true, false])
  })
})

describe('a store that every user of the machine can write', () => {
  it.each([
    ['its file', '.belfry/belfry.db', 0o666],
    ['its folder', '.belfry', 0o777],
    ['its folder, though nobody can delete there', '.belfry', 0o1777],
    ['the folder that it lies in', '.', 0o777],
  ])('is refused where that is by %s', async (_, path, mode) => {
    const stage = new Stage()
    const shared = stage.folder('shared')
    await stage.store(shared)
    chmodSync(join(shared, path), mode)
    const { exit, stderr } = await stage.belfry('up --once', shared)
    expect({ exit, ran: stage.ran, stderr }).toEqual({
      exit: 6,
      ran: 0,
      stderr: expect.stringContaining('can be written by every user of this machine'),
    })
    expect((await stage.belfry('trust --store', shared)).exit).toBe(0)
    expect((await stage.belfry('up --once', shared)).exit).toBe(0)
  })

  it('is not one of ours below a volume or a folder of a build machine that is open to all', async () => {
    const stage = new Stage()
    const own = stage.folder('volume/group/project')
    chmodSync(stage.folder('volume'), 0o777)
    await stage.store(own)
    expect((await stage.belfry('up --once', own)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })

  it('is not one of ours that lies in a shared folder from which others cannot take it', async () => {
    const stage = new Stage()
    const [shared, own] = [stage.folder('shared'), stage.folder('shared/own')]
    chmodSync(shared, 0o1777)
    await stage.store(shared)
    expect((await stage.belfry('up --once', own)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })
})
