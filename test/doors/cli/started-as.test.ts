import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { startedAs } from '../../../src/doors/cli/spelling/started-as.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belfry-started-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(path: string): string {
  const made = join(folder, path)
  mkdirSync(dirname(made), { recursive: true })
  writeFileSync(made, '#!/bin/sh\n')
  chmodSync(made, 0o755)
  return made
}

function link(path: string, to: string): string {
  const made = join(folder, path)
  mkdirSync(dirname(made), { recursive: true })
  symlinkSync(to, made)
  return made
}

const bin = file('node_modules/belfry/bin/belfry.js')
const dist = file('node_modules/belfry/dist/belfry.js')
const npmBin = link('node_modules/.bin/belfry', '../belfry/bin/belfry.js')
const other = dirname(file('other/belfry'))
const global = dirname(link('usr/belfry', bin))
const noProgram = join(folder, 'no-program')
mkdirSync(join(noProgram, 'belfry'), { recursive: true })

describe('the words that start the command line', () => {
  const said = (script: string | undefined, env: Record<string, string> = {}, from = folder) =>
    startedAs({ script, env, folder: from })

  it('are those that were typed, where no shell finds belfry', () => {
    expect(said(npmBin, { PATH: '' })).toBe('./node_modules/.bin/belfry')
    expect(said(bin, { PATH: noProgram })).toBe('node node_modules/belfry/bin/belfry.js')
    expect(said(dist)).toBe('node node_modules/belfry/dist/belfry.js')
    const elsewhere = join(folder, 'my project')
    expect(said(npmBin, {}, elsewhere)).toBe(npmBin)
    expect(said(dist, {}, elsewhere)).toBe(`node ${dist}`)
    expect(said(join(elsewhere, 'belfry.js'))).toBe("node 'my project/belfry.js'")
  })

  it('are belfry only where the first that a shell finds is this very program, by whatever links', () => {
    for (const script of [npmBin, bin, dist, join(global, 'belfry')]) {
      expect(said(script, { PATH: `${noProgram}:${global}:${other}` })).toBe('belfry')
      expect(said(script, { PATH: `${other}:${global}` })).not.toBe('belfry')
    }
    expect(said(npmBin, { PATH: 'node_modules/.bin' })).toBe('belfry')
  })

  it('are belfry where a version manager stands between the shell and this program', () => {
    expect(said(bin, { PATH: other, _: join(other, 'belfry') })).toBe('belfry')
    expect(said(bin, { PATH: other, _: '/usr/bin/node' })).toBe('node node_modules/belfry/bin/belfry.js')
  })

  it('are those of npm where npm started it', () => {
    expect(said(npmBin, { PATH: global, npm_command: 'exec' })).toBe('npx belfry')
  })
})

describe('a process that was started', () => {
  const repository = fileURLToPath(new URL('../../../', import.meta.url))
  const project = join(folder, 'project')
  const { npm_command: _, npm_lifecycle_event: __, BELFRY_STORE: ___, ...env } = process.env
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(repository, join(project, 'node_modules/belfry'))
  symlinkSync('../belfry/bin/belfry.js', join(project, 'node_modules/.bin/belfry'))
  const path = dirname(process.execPath)

  it.each([
    ['./node_modules/.bin/belfry', path, './node_modules/.bin/belfry'],
    ['node node_modules/belfry/bin/belfry.js', path, 'node node_modules/belfry/bin/belfry.js'],
    ['node node_modules/belfry/dist/belfry.js', path, 'node node_modules/belfry/dist/belfry.js'],
    ['belfry', `${join(project, 'node_modules/.bin')}:${path}`, 'belfry'],
  ])('as %s suggests commands that can be typed there', (typed, PATH, own) => {
    const run = (line: string) =>
      spawnSync('/bin/sh', ['-c', line], {
        cwd: project,
        encoding: 'utf8',
        env: { ...env, PATH: `${PATH}:/usr/bin:/bin` },
      })
    const { status, stderr } = run(`${typed} schedule list`)
    expect({ status, stderr }).toMatchObject({ status: 3, stderr: expect.stringContaining(`\`${own} up\``) })
    expect(run(`${own} --version`).status).toBe(0)
  })
})
