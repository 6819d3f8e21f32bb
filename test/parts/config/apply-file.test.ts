import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/kinds.ts'
import { applyFile } from '../../../src/parts/config/apply-file.ts'
import { Trust } from '../../../src/parts/config/trusted-files.ts'
import { listSchedules } from '../../../src/store/reads/find-schedule.ts'
import { Desk } from '../../operations/desk.ts'

let folder: string
let desk: Desk
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-apply-'))
  desk = await Desk.open()
})
afterEach(async () => {
  await desk.store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What a worker does that starts with this file in a folder of this name. */
async function started(release: string, text: string): Promise<string> {
  mkdirSync(join(folder, release), { recursive: true })
  const path = join(folder, release, 'belfry.yaml')
  for (const program of ['backup.sh', 'other.sh']) {
    writeFileSync(join(folder, release, program), '#!/bin/sh\n', { mode: 0o755 })
  }
  writeFileSync(path, text)
  const trust = new Trust({ XDG_STATE_HOME: join(folder, 'state') }, { kinds, sections: [] })
  return (await applyFile(desk.context, { path, onlyNew: true }, trust)).answer
}

const programs = async () => (await desk.store.look(listSchedules)).map(({ spec: { target } }) => target)
const backup = 'source: ops\nschedules: { a: { every: 1h, target: { command: [./backup.sh] } } }\n'

describe('a file that a worker starts with', () => {
  it('starts the programs of its own folder, also where the same file lay elsewhere before', async () => {
    expect(await started('1', backup)).toBe('applied')
    expect(await started('2', backup)).toBe('applied')
    expect(await programs()).toEqual([{ command: [join(folder, '2', 'backup.sh')] }])
    expect(await started('1', backup), 'a restart moved it back').toBe('current')
    expect(await started('2', backup)).toBe('current')
  })

  it('is the same in every folder where it names nothing relative', async () => {
    const text = backup.replace('./backup.sh', '/bin/true')
    expect(await started('1', text)).toBe('applied')
    expect(await started('2', text)).toBe('current')
  })

  it('brings nothing back from an old checkout, whatever folder that is in', async () => {
    await started('1', backup)
    await started('2', `${backup}queues: { mail: {} }\n`)
    expect(await started('3', backup)).toBe('older')
  })
})
