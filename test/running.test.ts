import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../src/index.ts'
import { kinds } from '../src/kinds.ts'
import { scratchFolder } from './scratch.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const readme = text('README.md')
const page = text('docs/running.md')
const { bin, version } = JSON.parse(text('package.json'))

function folder(): string {
  const path = mkdtempSync(join(scratchFolder(), 'belfry-running-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('installing asks no registry for a name that is not ours', () => {
  it('the README and the page install the tarball of npm pack, and registrations start what is installed', () => {
    for (const told of [readme, page]) {
      expect(told).toContain('npm ci && npm pack')
      expect(told).toMatch(new RegExp(`npm install \\S*belfry-${version}\\.tgz`))
    }
    const registrations = text('docs/mcp.md')
      .split('\n')
      .filter((line) => / mcp add |"mcpServers"/.test(line))
    expect(registrations).toHaveLength(3)
    for (const line of registrations) {
      expect(line).toContain(`./node_modules/.bin/${Object.keys(bin)[0]}`)
      expect(line).not.toMatch(/\bnpx\b|npm exec/)
    }
  })

  it('the tarball has what the command line, the library and the types need', () => {
    const cwd = folder()
    const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', cwd], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }]
    expect(filename).toBe(`belfry-${version}.tgz`)
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'bin/belfry.js',
        'dist/index.d.ts',
        'dist/verbs.d.ts',
        'README.md',
        'dist/agent-profiles.json',
      ]),
    )
    execFileSync('tar', ['-xzf', filename], { cwd })
    symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
    const said = execFileSync(process.execPath, [join(cwd, 'package/bin/belfry.js'), '--version'], {
      cwd,
      encoding: 'utf8',
    })
    expect(said.trim()).toBe(version)
    const check = [join(cwd, 'package/bin/belfry.js'), 'agent', 'check', 'codex']
    expect(spawnSync(process.execPath, check, { cwd, encoding: 'utf8' }).stdout).toContain('codex: ')
  })
})

describe('docs/running.md', () => {
  const unit = text('docs/running/belfry.service')
  const container = text('docs/running/Dockerfile')

  it('has a unit that systemd takes, whose command and flags exist, and neither it nor a container kills agents within their grace', () => {
    const [, program = '', flags = ''] = /^ExecStart=(\S+) up ?(.*)$/m.exec(unit) ?? []
    expect(program.endsWith(`/node_modules/.bin/${Object.keys(bin)[0]}`)).toBe(true)
    const help = execFileSync(process.execPath, [join(root, 'bin/belfry.js'), 'up', '--help'], { encoding: 'utf8' })
    const typed = [...`${flags} ${container.match(/^CMD .*$/m)?.[0]}`.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)
    expect(typed.length).toBeGreaterThan(1)
    for (const flag of typed) expect(help).toContain(flag)
    expect(flags).not.toContain('--grace')
    const graceMs = Math.max(...kinds.map((kind) => kind.graceMs ?? 0))
    for (const stopped of [/^TimeoutStopSec=(\d+)$/m.exec(unit), /--stop-timeout (\d+)/.exec(container)]) {
      expect(Number(stopped?.[1]) * 1_000).toBeGreaterThan(graceMs)
    }
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) return
    // The program and the user of the unit are not on this machine; everything else is judged as it stands.
    const path = join(folder(), 'belfry.service')
    writeFileSync(path, unit.replace(program, process.execPath).replace(/^User=.*\n/m, ''))
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    expect([stderr.split('\n').filter((line) => line.includes('belfry.service')), status]).toEqual([[], 0])
  })

  it('has a container file whose instructions are known and whose commands are in the package', () => {
    const instructions = container
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(' ')[0])
    const known = [
      'FROM',
      'WORKDIR',
      'COPY',
      'RUN',
      'ENV',
      'USER',
      'VOLUME',
      'EXPOSE',
      'HEALTHCHECK',
      'STOPSIGNAL',
      'CMD',
    ]
    expect(instructions.filter((one) => !known.includes(one ?? ''))).toEqual([])
    expect(container).toContain('COPY belfry-*.tgz ./')
    const command = JSON.parse(/^CMD (.*)$/m.exec(container)?.[1] ?? '') as string[]
    expect(command[0]).toBe(`node_modules/.bin/${Object.keys(bin)[0]}`)
    const [, , health = ''] = JSON.parse(/^HEALTHCHECK .* CMD (.*)$/m.exec(container)?.[1] ?? '') as string[]
    expect(() => new Function(health)).not.toThrow()
  })

  it('backs up a store under a live worker, and the restored file goes on where the backup was', async () => {
    const cwd = folder()
    symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
    const file = join(cwd, '.belfry/belfry.db')
    mkdirSync(join(cwd, '.belfry'), { mode: 0o700 })
    const belfry = await Belfry.open({ store: `sqlite:${file}`, log: false })
    onTestFinished(() => belfry.close())
    const done: number[] = []
    const work = belfry.handle('work', (run: { payload: { n: number } }) => void done.push(run.payload.n))
    await belfry.schedules.put('nightly', { cron: '0 2 * * *', zone: 'UTC', target: work.target })
    await belfry.start()
    const first = await Promise.all(Array.from({ length: 20 }, (_, n) => work.enqueue({ n })))
    await Promise.all(first.map(({ id }) => belfry.runs.wait(id as string)))
    const waiting = await belfry.runs.enqueue({ target: { handler: 'later' }, payload: { n: 99 } })
    // Work goes on while the backup is taken.
    const meanwhile = Promise.all(Array.from({ length: 20 }, (_, n) => work.enqueue({ n: 100 + n })))
    const command = /\*\*SQLite\.\*\*[\s\S]*?```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    execFileSync('sh', ['-c', `umask 022; ${command}`], { cwd })
    await meanwhile
    const backup = statSync(join(cwd, 'belfry-backup.db'))
    expect((backup.mode & 0o777).toString(8), 'other users can read the backup').toBe('600')
    await belfry.close()
    for (const each of ['', '-wal', '-shm']) rmSync(`${file}${each}`, { force: true })
    copyFileSync(join(cwd, 'belfry-backup.db'), file)
    chmodSync(file, 0o600)
    const restored = await Belfry.open({ store: `sqlite:${file}`, log: false })
    onTestFinished(() => restored.close())
    const { checks } = await restored.store.doctor({ deep: true })
    expect(checks.find(({ check }) => check === 'integrity')).toMatchObject({ state: 'ok' })
    for (const { id } of first) expect((await restored.runs.get(id as string)).status).toBe('completed')
    expect((await restored.schedules.get('nightly')).nextRunAt).not.toBeNull()
    const later = restored.handle('later', (run: { payload: { n: number } }) => run.payload.n)
    restored.handle('work', () => undefined)
    await restored.start()
    expect(await later.wait(waiting.id as string)).toMatchObject({ status: 'completed', result: { value: 99 } })
  })
})
