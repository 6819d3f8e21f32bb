import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Belfry } from '../../src/index.ts'
import { markDiffers, marksIn, ownMark } from '../../src/store/sqlite/mark.ts'
import { copyOf, editStore, git, Stage } from './stage.ts'

const home = process.cwd()
afterEach(() => process.chdir(home))

/** A checked-out tree with a store that was made in it. */
async function tree(): Promise<{ stage: Stage; work: string; store: string }> {
  const stage = new Stage()
  const work = stage.folder('work')
  git(work, 'init', '--quiet')
  return { stage, work, store: await stage.store(work) }
}

/** A clone of a tree that has a store among its files. */
async function clone(): Promise<{ stage: Stage; work: string }> {
  const { stage, work } = await tree()
  git(work, 'add', '--force', '.belfry/belfry.db')
  git(work, 'commit', '--quiet', '-m', 'A store')
  const fresh = join(stage.terminal.folder, 'fresh')
  git(work, 'clone', '--quiet', work, fresh)
  return { stage, work: fresh }
}

describe('a store in a checked-out tree', () => {
  it('starts programs at once where it was made here', async () => {
    const { stage, work } = await tree()
    expect(await stage.belfry('up --once', work)).toMatchObject({ exit: 0 })
    expect(stage.ran).toBe(1)
  })

  it('that came with the tree starts none before it is trusted, and can be looked at', async () => {
    const { stage, work } = await clone()
    const { exit, stderr } = await stage.belfry('up --once', work)
    expect({ exit, ran: stage.ran }).toEqual({ exit: 6, ran: 0 })
    expect(stderr).toContain('belfry trust --store')
    expect((await stage.belfry('run list', work)).exit).toBe(0)
    expect((await stage.belfry('trust --store', work)).exit).toBe(0)
    expect((await stage.belfry('up --once', work)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })

  it('that is not trusted is told to be trusted before a worker is started, by notes, explain and doctor', async () => {
    const { stage, work } = await clone()
    const said = async (words: string) => {
      const { stdout, stderr } = await stage.belfry(words, work)
      return `${stdout}\n${stderr}`
    }
    const { stdout } = await stage.belfry('run list --json', work)
    const explain = `explain run ${/"(r-\w+)"/.exec(stdout)?.[1]}`
    for (const words of ['run list', explain, 'doctor']) {
      expect(await said(words), words).toMatch(/belfry up/)
      expect(await said(words), words).toMatch(/then trust it with `belfry trust --store`/)
    }
    await stage.belfry('trust --store', work)
    for (const words of ['run list', explain, 'doctor']) expect(await said(words), words).not.toContain('trust')
  })

  it('is not trusted by a path at which there is none', async () => {
    const { stage, work } = await tree()
    const { exit, stderr } = await stage.belfry('trust --store sqlite:./nope.db', work)
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: expect.stringContaining('nope.db') })
    expect(existsSync(join(stage.env.XDG_STATE_HOME, 'belfry/stores'))).toBe(false)
  })

  it('starts what it says where its user names it', async () => {
    const { stage, work } = await clone()
    const env = { BELFRY_STORE: `sqlite:${join(work, '.belfry/belfry.db')}` }
    expect((await stage.belfry('up --once', work, env)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })

  it.each([
    ['a copy, as from a backup', 'another file'],
    ['of another machine', 'another machine'],
    ['of another user', 'by user 12345'],
  ])('that is %s is refused with the command that mends it', async (which, says) => {
    const { stage, work, store } = await tree()
    const columns = { 'of another machine': `machine = 'm'`, 'of another user': `user = '12345'` }
    if (which in columns) editStore(store, `update mark set ${columns[which as keyof typeof columns]}`)
    else {
      copyOf(dirname(store), join(work, 'backup'))
      rmSync(dirname(store), { recursive: true })
      copyOf(join(work, 'backup'), dirname(store))
      // A file system may give the number of the deleted file to the new one.
      editStore(store, `update mark set inode = inode || '0'`)
    }
    const { exit, stderr } = await stage.belfry('up --once', work)
    expect({ exit, ran: stage.ran }).toEqual({ exit: 6, ran: 0 })
    expect(stderr).toContain(says)
    expect(stderr).toContain('belfry trust --store')
    expect((await stage.belfry('run list', work)).exit).toBe(0)
    await stage.belfry('trust --store', work)
    expect((await stage.belfry('up --once', work)).exit).toBe(0)
  })

  it('is adopted from an earlier version where git does not track it', async () => {
    const { stage, work, store } = await tree()
    editStore(store, 'drop table mark')
    const { exit, stderr } = await stage.belfry('up --once', work)
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringContaining('is now marked as created here') })
    expect(marksIn(store)).toEqual([ownMark(store)])
    expect((await stage.belfry('up --once', work)).stderr).toBe('')
  })

  it('has git start no program of the tree when git is asked whether the store came with it', async () => {
    const { stage, work, store } = await tree()
    editStore(store, 'drop table mark')
    stage.folder('work/folder')
    stage.terminal.write('work/folder/file', '1')
    git(work, 'add', 'folder')
    git(work, 'commit', '--quiet', '-m', 'A folder')
    // Git needs an object that is missing, and the settings of the tree say by which program a remote gives it.
    git(work, 'sparse-checkout', 'init', '--cone', '--sparse-index')
    git(work, 'sparse-checkout', 'set', 'nothing')
    const asked = join(stage.terminal.folder, 'asked')
    const settings = {
      'remote.origin.url': `ext::sh -c touch% ${asked}`,
      'protocol.ext.allow': 'always',
      'remote.origin.promisor': 'true',
      'extensions.partialClone': 'origin',
      'core.repositoryFormatVersion': '1',
    }
    for (const [name, value] of Object.entries(settings)) git(work, 'config', name, value)
    const missing = git(work, 'rev-parse', 'HEAD:folder').trim()
    rmSync(join(work, '.git/objects', missing.slice(0, 2), missing.slice(2)))
    const { exit, stderr } = await stage.belfry('up --once', work)
    expect({ isAsked: existsSync(asked), exit, ran: stage.ran }).toEqual({ isAsked: false, exit: 6, ran: 0 })
    expect(stderr).toContain('may have come with it')
  })

  it.each(['git', 'a link that git tracks', 'another tool than git'])(
    'is not adopted from an earlier version where it came by %s',
    async (how) => {
      const { stage, work } = how.startsWith('a') ? await tree() : await clone()
      const store = join(work, '.belfry/belfry.db')
      editStore(store, 'drop table mark')
      if (how === 'another tool than git') {
        rmSync(join(work, '.git'), { recursive: true })
        mkdirSync(join(work, '.hg'))
      }
      if (how === 'a link that git tracks') {
        copyOf(dirname(store), join(work, 'data'))
        rmSync(dirname(store), { recursive: true })
        symlinkSync('data', join(work, '.belfry'))
        git(work, 'add', '--force', 'data/belfry.db', '.belfry')
      }
      const { exit, stderr } = await stage.belfry('up --once', work)
      expect({ exit, ran: stage.ran }).toEqual({ exit: 6, ran: 0 })
      expect(stderr).toContain('may have come with it')
    },
  )

  it('that came with the tree is not started by a program that takes what lies in its folder', async () => {
    const { stage, work } = await clone()
    process.chdir(work)
    const found = await Belfry.open({ log: false })
    await expect(found.start()).rejects.toMatchObject({ code: 'not-allowed' })
    await expect(found.drain()).rejects.toMatchObject({ code: 'not-allowed' })
    expect((await found.runs.list()).runs).toHaveLength(1)
    await found.close()
    const named = await Belfry.open({ store: 'sqlite:./.belfry/belfry.db', log: false })
    await named.drain()
    await named.close()
    expect(stage.ran).toBe(1)
  })
})

describe('a store outside of checked-out trees', () => {
  it('is used where its mark does not fit, as after a restored backup, and the worker says so', async () => {
    const stage = new Stage()
    const work = stage.folder('work')
    const store = await stage.store(work)
    expect((await stage.belfry('up --once', work)).stderr).toBe('')
    editStore(store, `update mark set machine = 'm'`)
    const { exit, stderr } = await stage.belfry('up --once', work)
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: expect.stringMatching(/note: .* was created on another machine.*belfry trust --store/),
    })
    await stage.belfry('trust --store', work)
    expect((await stage.belfry('up --once', work)).stderr).toBe('')
  })
})

describe('the mark of a store', () => {
  const mark = { machine: 'm', user: '1', device: '7', inode: '9', born: '1700' }

  it('holds after a boot that numbered the disks anew, and for no other file', () => {
    expect(markDiffers(mark, { ...mark, device: '8' })).toBeNull()
    expect(markDiffers({ ...mark, born: '0' }, { ...mark, device: '8', born: '0' })).toContain('another file')
    expect(markDiffers(mark, { ...mark, device: '8', born: '1800' })).toContain('another file')
    expect(markDiffers(mark, { ...mark, inode: '10' })).toContain('another file')
  })
})
