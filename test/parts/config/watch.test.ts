import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/kinds.ts'
import { applyConfig } from '../../../src/parts/config/apply-config.ts'
import { readConfigFile } from '../../../src/parts/config/config-file.ts'
import { type ConfigNews, ConfigWatch } from '../../../src/parts/config/config-watch.ts'
import { configFaults } from '../../../src/parts/config/read-configs.ts'
import { Trust } from '../../../src/parts/config/trusted-files.ts'
import { listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { Desk } from '../../operations/desk.ts'
import { workOf } from './work.ts'

let folder: string
let desk: Desk
let watch: ConfigWatch
let news: ConfigNews[]
let heard: (() => void) | null

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-watch-'))
  desk = await Desk.open()
  news = []
  heard = null
  watch = watching()
})
afterEach(async () => {
  await watch.close()
  await desk.store.close()
  rmSync(folder, { recursive: true, force: true })
})

const path = () => join(folder, 'belfry.yaml')
const write = (text: string) => writeFileSync(path(), text)
const trust = () => new Trust({ XDG_STATE_HOME: join(folder, 'state') }, { kinds, sections: [] })
const names = async () => (await desk.store.look(listSchedules)).map(({ spec }) => spec.name)

function watching(): ConfigWatch {
  return new ConfigWatch({
    path: path(),
    context: desk.context,
    trust: trust(),
    tell: (one) => {
      news.push(one)
      heard?.()
    },
  })
}

/** The next thing that is told after this. */
async function told(act: () => void): Promise<ConfigNews> {
  const hearing = new Promise<void>((resolve) => {
    heard = resolve
  })
  act()
  await hearing
  return news.at(-1) as ConfigNews
}

/** Somebody else's file of the same source, which names nothing any more. */
const applyElsewhere = () =>
  desk.store.do(
    applyConfig,
    { source: 'ops', hash: 'other', file: 'f', queues: [], schedules: [], tokens: [] },
    { actor: { name: 'x', door: 'y' }, yes: true },
  )

/** The end of a look at a file that is refused: what is wrong with it was noted for others. */
function noted(): Promise<void> {
  const { store } = desk.context
  const real = store.do.bind(store)
  return new Promise((resolve) => {
    const noticing: typeof real = async (verb, ...args) => {
      const answer = await real(verb, ...args)
      if (verb.name === 'noteConfigFault') resolve()
      return answer
    }
    Object.assign(store, { do: noticing })
  })
}

/** A look that is made though nobody said that the file had changed. */
const look = () => desk.clock.advance(30_000)

const file = (...schedules: string[]) =>
  `source: ops\nschedules: { ${schedules.map((name) => `${name}: { every: 1h }`)} }\n`

describe('a file that is watched', () => {
  it('is applied at first, and when it changes, also back to what it said before', async () => {
    write(file('a'))
    await watch.begin()
    expect(news).toMatchObject([{ what: 'applied', written: { answer: 'applied' } }])
    expect(await told(() => write(file('a', 'b')))).toMatchObject({ written: { answer: 'applied' } })
    expect(await names()).toEqual(['a', 'b'])
    expect(await told(() => write(file('a')))).toMatchObject({ written: { answer: 'applied' } })
    expect(await names()).toEqual(['a'])
  })

  it('is left alone when somebody begins to watch it again, whatever became of the store since', async () => {
    write(file('a'))
    await watch.begin()
    await watch.close()
    await applyElsewhere()
    watch = watching()
    await watch.begin()
    expect(news.at(-1)).toMatchObject({ written: { answer: 'older' } })
    expect(await names()).toEqual([])
  })

  it('that is not there yet is applied once it comes', async () => {
    await watch.begin()
    expect(news).toEqual([])
    expect(await told(() => write(file('a')))).toMatchObject({ what: 'applied' })
  })

  it.each(['not there', 'empty'])('that was %s when it started brings nothing back that was deleted', async (what) => {
    write(file('a'))
    await watch.begin()
    await watch.close()
    await applyElsewhere()
    if (what === 'empty') write('')
    else rmSync(path())
    watch = watching()
    await watch.begin()
    expect(await told(() => write(file('a')))).toMatchObject({ what: 'applied', written: { answer: 'older' } })
    expect(await names()).toEqual([])
  })

  it('that is not there is not blamed for a store that fails, and one that is there is', async () => {
    await desk.store.close()
    await watch.begin()
    expect(news).toEqual([])
    expect(await told(() => write(file('a')))).toMatchObject({ what: 'refused' })
  })

  it('with which something is wrong is told once, noted for others, and forgotten when it is gone', async () => {
    write('source: [\n')
    await watch.begin()
    expect(news).toMatchObject([{ what: 'refused', error: { code: 'invalid' } }])
    expect(await desk.store.look(configFaults)).toHaveLength(1)
    expect(await told(() => write('sorce: a\n'))).toMatchObject({
      error: { message: expect.stringContaining('sorce') },
    })
    rmSync(path())
    const faults = () => {
      look()
      return desk.store.look(configFaults)
    }
    await expect.poll(faults).toEqual([])
    expect(news).toHaveLength(2)
  })

  it('that cannot be read is noted for others like any other fault', async () => {
    mkdirSync(path())
    await watch.begin()
    expect(news).toMatchObject([{ what: 'refused', error: { code: 'invalid' } }])
    expect(await desk.store.look(configFaults)).toMatchObject([{ says: expect.stringContaining('is a folder') }])
  })

  it('whose wrong edit is undone has nothing wrong with it any more, and is not applied over what came since', async () => {
    write(file('a'))
    await watch.begin()
    expect(await told(() => write('sorce: a\n'))).toMatchObject({ what: 'refused' })
    expect(await desk.store.look(configFaults)).toHaveLength(1)
    await applyElsewhere()
    expect(await told(() => write(file('a')))).toMatchObject({ what: 'applied', written: { answer: 'older' } })
    expect(await desk.store.look(configFaults)).toEqual([])
    expect(await names()).toEqual([])
  })

  it('that was refused is tried again, for somebody may vouch for it without touching it', async () => {
    mkdirSync(join(folder, '.git'))
    writeFileSync(join(dirname(path()), 'x'), '#!/bin/sh\n', { mode: 0o755 })
    write('source: ops\nschedules: { a: { every: 1h, target: { command: [./x] } } }\n')
    await watch.begin()
    expect(news).toMatchObject([{ what: 'refused', error: { code: 'not-allowed' } }])
    trust().give(await readConfigFile(path()))
    expect(await told(look)).toMatchObject({ what: 'applied' })
    expect(await desk.store.look(configFaults)).toEqual([])
  })

  it('that is not trusted keeps the worker from nothing: what lies in its sections is not judged, and its text once', async () => {
    mkdirSync(join(folder, '.git'))
    const zones = Intl.supportedValuesOf('timeZone')
    const entry = (at: number) =>
      `  s${at}: { cron: '*/${(at % 59) + 1} 3 29 2 *', zone: ${zones[at % zones.length]}, max: 3650d, target: { command: [x] } }\n`
    write(`source: ops\nschedules:\n${Array.from({ length: 300 }, (_, at) => entry(at)).join('')}`)
    const first = await workOf(() => watch.begin())
    expect(news).toMatchObject([{ what: 'refused', error: { code: 'not-allowed' } }])
    expect({ gaps: first.of('longestGapMs'), rehearsals: first.of('rehearsal') }).toEqual({ gaps: 0, rehearsals: 0 })
    const again = await workOf(async () => {
      const done = noted()
      look()
      await done
    })
    expect(again.calls).toBeLessThan(first.calls / 100)
    trust().give(await readConfigFile(path()))
    expect(await told(look)).toMatchObject({ what: 'applied', written: { schedules: { length: 300 } } })
  })

  it('that is not trusted is still told that its sections are wrong', async () => {
    mkdirSync(join(folder, '.git'))
    write('sorce: ops\nschedules: { a: { every: 1h, target: { command: [./x] } } }\n')
    await watch.begin()
    expect(news).toMatchObject([
      { what: 'refused', error: { code: 'invalid', message: expect.stringContaining('sorce') } },
    ])
  })

  it('that is emptied keeps what it made, and says so', async () => {
    write(file('a'))
    await watch.begin()
    expect(await told(() => write(''))).toMatchObject({ what: 'refused', error: { code: 'conflict' } })
    expect(await names()).toEqual(['a'])
  })
})
