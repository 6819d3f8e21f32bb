import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { binary, type Ended, Shell } from './belfry-process.ts'

const preload = fileURLToPath(new URL('loaded-modules.mjs', import.meta.url))
const library = new URL('../../dist/index.js', import.meta.url).href

/** The source files whose code a program loads: of a bundled file, those that were joined in it. */
function loadedBy(shell: Shell, program: readonly string[], features: string): string[] {
  const report = `${shell.folder}/modules`
  rmSync(report, { force: true })
  const { PATH = '' } = process.env
  execFileSync(process.execPath, ['--import', preload, ...program], {
    cwd: shell.folder,
    env: { PATH, LOADED: report, BELFRY_FEATURES: features, BELFRY_LISTEN: 'none' },
    stdio: 'pipe',
  })
  const files = readFileSync(report, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:'))
  return files.flatMap((url) => {
    const joined = [...readFileSync(new URL(url), 'utf8').matchAll(/^\/\/ (dist\/\S+\.js)$/gm)].map(
      ([, path]) => `/${path}`,
    )
    return [url, ...joined]
  })
}

function ofFolder(loaded: readonly string[], folder: string): string[] {
  return loaded.filter((path) => path.includes(`/dist/${folder}/`))
}

function typed(shell: Shell, words: string, features: string): Promise<Ended> {
  return shell.start(words, { env: { BELFRY_FEATURES: features } }).ended
}

const optional = ['agents', 'hosts', 'config', 'routines', 'imports', 'backfill', 'corpus', 'planner']
const commands = ['schedule list', 'up --once']
const useLibrary = `const { Belfry } = await import('${library}')
  const belfry = await Belfry.open({ store: 'memory:' }); await belfry.drain(); await belfry.close()`

/** A program of each kind, by what it is called here. */
function programsOf(shell: Shell): Record<string, readonly string[]> {
  const typedWords = commands.map((words) => [words, [binary, ...words.split(' '), ...shell.store]] as const)
  return { ...Object.fromEntries(typedWords), library: ['--input-type=module', '--eval', useLibrary] }
}

describe('what BELFRY_FEATURES leaves out', () => {
  /** What each program loads where nothing is left out, seen once. */
  const whole = new Map<string, readonly string[]>()
  function wholeOf(name: string, shell: Shell): readonly string[] {
    const seen = whole.get(name) ?? loadedBy(shell, programsOf(shell)[name] ?? [], '')
    whole.set(name, seen)
    return seen
  }

  it.each(optional)('is not among the modules that a command and a worker load: %s', async (part) => {
    const shell = new Shell('sqlite')
    await shell.belfry('schedule create a --every 1h --handler h')
    const programs = programsOf(shell)
    for (const words of commands) {
      expect(ofFolder(loadedBy(shell, programs[words] ?? [], `-${part}`), `parts/${part}`)).toEqual([])
      expect(ofFolder(wholeOf(words, shell), `parts/${part}`).length).toBeGreaterThan(0)
    }
  })

  it.each(['-routines', '-agents', '-agents,-imports,-command'])(
    'is not loaded by the library either: %s',
    (features) => {
      const shell = new Shell('sqlite')
      const folders = features
        .split(',')
        .map((word) => (word === '-command' ? 'targets/command' : `parts/${word.slice(1)}`))
      const without = loadedBy(shell, programsOf(shell).library ?? [], features)
      expect(folders.flatMap((folder) => ofFolder(without, folder))).toEqual([])
      expect(folders.map((folder) => ofFolder(wholeOf('library', shell), folder).length > 0)).toEqual(
        folders.map(() => true),
      )
    },
  )
})

describe('a process without a feature', () => {
  it.each(['sqlite', 'postgres'] as const)(
    'works on a store that has its tables, and the other way round: %s',
    async (kind) => {
      const features = '-agents,-hosts,-config,-routines,-imports,-backfill,-corpus,-planner'
      const shell = new Shell(kind)
      await typed(shell, 'schedule create a --every 1h --handler h', features)
      expect(await shell.belfry('routine create r --schedule a')).toMatchObject({ exit: 0 })
      expect(await typed(shell, 'schedule list', features)).toMatchObject({ exit: 0 })
      expect((await typed(shell, 'doctor', features)).stdout).toMatch(/ok +schema/)
    },
  )

  it('refuses its commands, flags and targets, and says what brings them back', async () => {
    const shell = new Shell('sqlite')
    const refused = {
      exit: 6,
      stderr: expect.stringContaining(
        'The feature routines is left out of this process by -routines in BELFRY_FEATURES.\nhint: Start this process without -routines in BELFRY_FEATURES.',
      ),
    }
    expect(await typed(shell, 'routine list', '-routines')).toMatchObject(refused)
    expect(await typed(shell, 'apply x.yaml', '-config')).toMatchObject({ exit: 6 })
    expect(await typed(shell, 'import crontab x', '-imports')).toMatchObject({ exit: 6 })
    expect(await typed(shell, 'schedule create a --every 1h --command date', '-command')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(
        'The feature command is left out of this process by -command in BELFRY_FEATURES.',
      ),
    })
    writeFileSync(`${shell.folder}/run.json`, '{"target":{"agent":{"profile":"script","prompt":"p"}}}')
    expect(await typed(shell, 'run enqueue --file run.json', '-agents')).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/target.agent +is left out of this process by -agents in BELFRY_FEATURES/),
    })
  })

  it('leaves runs of a kind that it lacks to other workers', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('run enqueue --command true')
    await typed(shell, 'up --once', '-command')
    expect((await shell.belfry('run list')).stdout).toContain('ready')
    await shell.belfry('up --once')
    expect((await shell.belfry('run list')).stdout).toContain('completed')
  })
})

describe('features', () => {
  it('are refused with every problem and the nearest name', async () => {
    const shell = new Shell('sqlite')
    const { exit, stderr } = await typed(shell, 'schedule list', '-routins,agents,-holds,-planner')
    expect({
      exit,
      problems: stderr
        .split('BELFRY_FEATURES ')
        .slice(1)
        .map((each) => each.trim()),
    }).toEqual({
      exit: 2,
      problems: [
        'is "-routins" (expected: -routines, which leaves the feature out; a feature that is not named stays on);',
        'is "agents" (expected: -agents, which leaves the feature out; a feature that is not named stays on);',
        'leaves out holds, which stays: it keeps work from starting (expected:',
        'without -holds).',
      ],
    })
  })

  it('are read from the config file beside the store, where the variable does not say', async () => {
    const shell = new Shell('sqlite')
    writeFileSync(
      `${shell.folder}/belfry.yaml`,
      'source: ops\nfeatures: [-routines]\nqueues:\n  mail: { maxConcurrent: 2 }\n',
    )
    const { exit, stderr } = await typed(shell, 'routine list', '')
    expect(exit).toBe(6)
    expect(stderr).toMatch(/left out of this process by -routines in features of .*belfry\.yaml\./)
    expect(await typed(shell, 'apply', '')).toMatchObject({ exit: 0 })
    expect(await typed(shell, 'routine list', '-agents')).toMatchObject({ exit: 0 })
    writeFileSync(`${shell.folder}/belfry.yaml`, 'source: ops\nfeatures: -routine\n')
    expect((await typed(shell, 'routine list', '')).stderr).toContain('expected: -routines')
    expect((await typed(shell, 'apply', '-agents')).stderr).toMatch(/features +is "-routine"\s+expected: -routines/)
  })
})
