import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { giveOne, isRoot, nobody, Stage } from './stage.ts'

/** A folder that every user shares, with a belfry.yaml in it that starts a program at once. */
function trap(mode: number): { stage: Stage; shared: string; file: string } {
  const stage = new Stage()
  const shared = stage.folder('shared')
  const file = join(shared, 'belfry.yaml')
  const command = JSON.stringify(['/bin/sh', '-c', `echo ran >> ${stage.evidence}`])
  const schedule = `{ every: 1h, startNow: true, target: { command: ${command} } }`
  writeFileSync(file, `source: ops\nschedules: { a: ${schedule} }\n`)
  chmodSync(shared, 0o1777)
  chmodSync(file, mode)
  return { stage, shared, file }
}

describe('a belfry.yaml that another user could have written', () => {
  it.each([
    // Only root can give a file to another user.
    ...(isRoot ? [['because it belongs to that user', 0o644, nobody] as const] : []),
    ['because every user can write it', 0o666, null] as const,
  ])('starts nothing where it was only found, %s', async (_, mode, owner) => {
    const { stage, shared, file } = trap(mode)
    if (owner !== null) giveOne(file, owner)
    const applied = await stage.belfry('apply', shared)
    expect(applied).toMatchObject({ exit: 6, stderr: expect.stringContaining('belfry trust') })
    const worked = await stage.belfry('up --once', shared, { HOME: stage.env.XDG_STATE_HOME })
    expect(worked.stdout + worked.stderr).toContain('You have not trusted its current content')
    expect(stage.ran).toBe(0)
    expect((await stage.belfry('trust', shared)).stdout).toContain('belfry apply')
    expect((await stage.belfry('apply', shared)).exit).toBe(0)
    expect((await stage.belfry('up --once --config none', shared)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })

  it('is applied where it was named', async () => {
    const { stage, shared } = trap(0o666)
    expect((await stage.belfry('up --once --config belfry.yaml', shared)).exit).toBe(0)
    expect(stage.ran).toBe(1)
  })
})
