import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { refuseNetwork, refuseOldVersion } from '../../../src/store/sqlite/boot.ts'
import { openHandle } from '../../../src/store/sqlite/driver.ts'
import { ownIdentity } from '../../../src/store/workers/process-identity.ts'
import { refusalOf } from '../refusal.ts'
import { Openers } from './process.ts'

const openers = new Openers()
let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-boot-'))
  // The plain user of these tests must be able to reach what it is to be refused.
  chmodSync(folder, 0o777)
  file = join(folder, 'belfry.db')
})

afterEach(async () => {
  vi.useRealTimers()
  await openers.endAll()
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

function refused(message: RegExp, hint: RegExp) {
  return {
    name: 'BelfryError',
    code: 'unavailable',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  }
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** A store with some runs in it, closed as it should be. */
async function makeStore(): Promise<void> {
  const store = await openStore(`sqlite:${file}`)
  await store.enqueue(Array.from({ length: 50 }, (_, index) => ({ payload: { index } })))
  await store.close()
}

/** Brings everything from the log into the file itself, and answers where the page with the runs begins in it. */
function settledPlaceOfRuns(): number {
  sql('pragma wal_checkpoint(truncate)')
  const [{ page_size: size }] = sql('pragma page_size') as [{ page_size: number }]
  const [{ rootpage }] = sql(`select rootpage from sqlite_schema where name = 'run'`) as [{ rootpage: number }]
  return (rootpage - 1) * size
}

/** Breaks the page that holds the runs, which nothing reads while a store is opened. */
function damageRuns(): void {
  const place = settledPlaceOfRuns()
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(200, 0xff), 0, 200, place)
  closeSync(descriptor)
}

function sql(text: string, ...params: (string | number)[]): unknown[] {
  const handle = openHandle(file)
  try {
    return handle.prepare(text).all(...params)
  } finally {
    handle.close()
  }
}

describe('a new store', () => {
  it('is readable by its user alone, folders and log included, whatever the umask', async () => {
    const path = join(folder, 'a', 'b', 'belfry.db')
    const { place } = await openers.open(path)
    expect(place).toBe(path)
    expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual(['600', '600', '600'])
    expect([dirname(path), join(folder, 'a')].map(modeOf)).toEqual(['700', '700'])
  })

  it('leaves the mode of a folder that was there as it was', async () => {
    chmodSync(folder, 0o750)
    await makeStore()
    expect(modeOf(folder)).toBe('750')
  })

  it('is opened by each of several processes that create it at the same moment', async () => {
    const path = join(folder, 'new', 'belfry.db')
    const children = await Promise.all(Array.from({ length: 4 }, () => openers.start(path)))
    const opened = await Promise.all(children.map((child) => openers.openIn(child)))
    expect(opened).toEqual(children.map(() => ({ place: path })))
  })
})

describe('a place that cannot hold a store is refused:', () => {
  const rights = /^Give this user the right to write the file and its folder/

  it('a file that this user may read but not write', async () => {
    await makeStore()
    chmodSync(file, 0o444)
    expect(await openers.open(file, { asPlainUser: true })).toEqual(
      refused(/belfry\.db cannot be opened for writing: this user may not write it\.$/, rights),
    )
  })

  it('a file whose log was deleted under another process, and not for want of rights', async () => {
    await makeStore()
    await openers.open(file)
    rmSync(`${file}-wal`)
    const lost = /cannot be opened: disk I\/O error\. Its log .*belfry\.db-wal is missing or empty/
    const hint = /^Stop every process that uses this store, then run belfry doctor --deep/
    // The first that fails leaves an empty log behind.
    for (let times = 0; times < 2; times++)
      expect(await refusalOf(openStore(`sqlite:${file}`))).toMatchObject(refused(lost, hint))
  })

  it('a file in a folder that this user may not write, where SQLite could not make its log', async () => {
    await makeStore()
    chmodSync(file, 0o666)
    chmodSync(folder, 0o555)
    const answer = await openers.open(file, { asPlainUser: true })
    expect(answer).toEqual(refused(/cannot be opened for writing: this user may not write .*belfry-boot-/, rights))
  })

  it('a link in a folder of this user to a file in a folder that it may not write', async () => {
    await makeStore()
    chmodSync(file, 0o666)
    const here = mkdtempSync(join(tmpdir(), 'belfry-link-'))
    chmodSync(here, 0o777)
    symlinkSync(file, join(here, 'belfry.db'))
    chmodSync(folder, 0o555)
    const answer = await openers.open(join(here, 'belfry.db'), { asPlainUser: true })
    rmSync(here, { recursive: true })
    expect(answer).toEqual(refused(/cannot be opened for writing: this user may not write .*belfry-boot-/, rights))
  })

  it('a log left by another user that this one may not write', async () => {
    await openers.openAndKill(file)
    chmodSync(file, 0o666)
    for (const left of [`${file}-wal`, `${file}-shm`]) chmodSync(left, 0o444)
    expect(await openers.open(file, { asPlainUser: true })).toEqual(
      refused(/belfry\.db cannot be opened for writing: /, rights),
    )
  })

  it('a folder that this user may not create', async () => {
    chmodSync(folder, 0o555)
    const answer = await openers.open(join(folder, 'new', 'belfry.db'), { asPlainUser: true })
    expect(answer).toEqual(
      refused(/new\/belfry\.db cannot be opened for writing: this user may not make .*\/new\.$/, rights),
    )
  })

  // Only Linux has a file system that denies its own folders when something is to be made in them.
  it.runIf(existsSync('/proc/self'))(
    'a folder that nothing can be made in, which says that it is not there',
    async () => {
      const answer = await openers.open('/proc/nope/deeper/belfry.db')
      expect(answer).toMatchObject(refused(/ENOENT.* mkdir '\/proc\/nope'/, rights))
    },
  )

  it('a path that leads through a file', async () => {
    writeFileSync(file, '')
    expect(await refusalOf(openStore(`sqlite:${file}/belfry.db`))).toMatchObject(
      refused(/cannot be opened for writing: a part of its path is a file, not a folder/, /^Name a file in a folder/),
    )
  })

  it('a folder in place of the file', async () => {
    mkdirSync(file)
    const error = await refusalOf(openStore(`sqlite:${file}`))
    expect(error).toMatchObject(refused(/belfry\.db is not a file/, /^Name a file, such as/))
  })

  it('a file that is no database, and its bytes stay as they are', async () => {
    const diary = 'Dear diary, today I was nearly overwritten.\n'.repeat(100)
    writeFileSync(file, diary)
    const error = await refusalOf(openStore(`sqlite:${file}`))
    expect(error).toMatchObject(
      refused(/belfry\.db is not a readable SQLite database: file is not a database/, /^Restore it/),
    )
    expect(readFileSync(file, 'utf8')).toBe(diary)
  })

  it('a file that another program keeps locked', async () => {
    await makeStore()
    const other = openHandle(file)
    other.exec('begin immediate')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const refusal = refusalOf(openStore(`sqlite:${file}`))
    let isOver = false
    void refusal.then(() => {
      isOver = true
    })
    while (!isOver) await vi.advanceTimersByTimeAsync(1_000)
    other.exec('rollback')
    other.close()
    expect(await refusal).toMatchObject(refused(/stayed locked by another process/, /must finish first/))
  })
})

describe('a network file system', () => {
  it.each([
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xfe534d42, 'SMB'],
    [0xff534d42, 'CIFS'],
    [0x5346414f, 'AFS'],
    [0x6b414653, 'AFS'],
    [0x73757245, 'Coda'],
    [0x01021997, '9P'],
    [0x00c36400, 'Ceph'],
    [0x0bd00bd0, 'Lustre'],
    [0x47504653, 'GPFS'],
    [0x19830326, 'BeeGFS'],
    [0x786f4256, 'VirtualBox'],
    [0xbacbacbc, 'VMware'],
    [0x7c7c6673, 'Parallels'],
  ])('%i is refused as %s', (type, name) => {
    const message = expect.stringMatching(`belfry\\.db lies on a network file system \\(.*${name}\\)`)
    const hint = expect.stringMatching(/local disk, or use PostgreSQL/)
    expect(() => refuseNetwork('belfry.db', type)).toThrow(
      expect.objectContaining({ code: 'unavailable', message, hint }),
    )
  })

  it.each([
    ['ext4', 0xef53],
    ['btrfs', 0x9123683e],
    ['xfs', 0x58465342],
    ['overlay', 0x794c7630],
    ['tmpfs', 0x01021994],
    ['the Linux of Windows', 0x53464846],
  ])('%s is none', (_, type) => {
    expect(() => refuseNetwork('belfry.db', type)).not.toThrow()
  })
})

describe('a SQLite that can corrupt a store', () => {
  it.each(['3.51.2', '3.9.0', '3.46.1', '3.51', '2.99.99'])('%s is refused', (version) => {
    expect(() => refuseOldVersion(version)).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: `SQLite ${version} can corrupt a store; 3.51.3 is the first version that does not.`,
        hint: expect.stringContaining('npm ci'),
      }),
    )
  })

  it.each(['3.51.3', '3.51.10', '3.53.0', '4.0.0'])('%s is not one', (version) => {
    expect(() => refuseOldVersion(version)).not.toThrow()
  })
})

describe('after an unclean stop', () => {
  const damaged = refused(/belfry\.db is damaged: Tree \d+ page \d+/, /copy of the file, then restore it from a backup/)

  beforeEach(makeStore)

  it('a damaged file is refused, every time it is opened, until it has been restored', async () => {
    settledPlaceOfRuns()
    const sound = readFileSync(file)
    await openers.openAndKill(file)
    damageRuns()
    expect(await refusalOf(openStore(`sqlite:${file}`))).toMatchObject(damaged)
    expect(await refusalOf(openStore(`sqlite:${file}`))).toMatchObject(damaged)
    expect(await openers.open(file)).toEqual(damaged)
    for (const left of ['-wal', '-shm']) rmSync(`${file}${left}`, { force: true })
    writeFileSync(file, sound)
    expect(await openers.open(file)).toEqual({ place: file })
  })

  it('a sound file is opened, and is not read through again at the next opening', async () => {
    await openers.openAndKill(file)
    await (await openStore(`sqlite:${file}`)).close()
    expect(sql('select * from opener')).toEqual([])
    damageRuns()
    await (await openStore(`sqlite:${file}`)).close()
  })

  it('a file that was closed is not read through, because that takes seconds for a large one', async () => {
    const child = await openers.start(file)
    await openers.openIn(child)
    await openers.closeIn(child)
    damageRuns()
    await (await openStore(`sqlite:${file}`)).close()
  })

  it('a file that others have open and work on is not read through', async () => {
    await openers.open(file)
    const store = await openStore(`sqlite:${file}`)
    damageRuns()
    await (await openStore(`sqlite:${file}`)).close()
    await store.close()
  })

  // Only Linux tells one boot and one process from another.
  describe.runIf(ownIdentity() !== null)('whoever had the file open', () => {
    const own = ownIdentity()
    const insert = 'insert into opener values (?, ?, ?, ?, 1)'

    it('before the machine was last started did not close it', async () => {
      sql(insert, 1, '1', 'another boot', String(own?.pidNamespace))
      damageRuns()
      expect(await refusalOf(openStore(`sqlite:${file}`))).toMatchObject(damaged)
    })

    it('in another container may have it open still', async () => {
      sql(insert, 1, 'never', String(own?.bootId), 'pid:[1]')
      damageRuns()
      await (await openStore(`sqlite:${file}`)).close()
      expect(sql('select pid_namespace from opener')).toEqual([{ pid_namespace: 'pid:[1]' }])
    })

    it('and was followed by another process with the same pid did not close it', async () => {
      sql(insert, process.pid, '1', String(own?.bootId), String(own?.pidNamespace))
      damageRuns()
      expect(await refusalOf(openStore(`sqlite:${file}`))).toMatchObject(damaged)
    })
  })
})
