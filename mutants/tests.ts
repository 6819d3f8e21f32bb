import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Copy, configFile } from './copy.ts'
import type { Suite } from './mutant.ts'

/** One test that ran. */
export interface Ran {
  readonly file: string
  readonly name: string
  readonly passed: boolean
  readonly ms: number
  /** Why it failed. */
  readonly message: string
}

export interface TestRun {
  readonly tests: readonly Ran[]
  /** It was ended because it took too long. */
  readonly hung: boolean
  readonly exitCode: number | null
  /** What was said where no test tells what went wrong. */
  readonly said: string
}

export interface TestOptions {
  readonly copy: Copy
  readonly postgresUrl: string
  readonly files: readonly string[]
  readonly only?: string | undefined
  readonly exclude?: readonly string[]
  readonly testMsMax: number
  readonly wallMsMax: number
  /** Ends with the first test that fails. */
  readonly bail: boolean
  /** Ends it at once. */
  readonly stop: AbortSignal
}

/** Runs tests in the copy and tells what became of each. */
export async function runTests(options: TestOptions): Promise<TestRun> {
  const { copy, files, only, exclude = [], testMsMax, bail } = options
  const report = join(copy.temporary, 'report.json')
  rmSync(report, { force: true })
  await emptyDatabase(options.postgresUrl)
  const { exitCode, hung, said } = await ended(options, [
    join(copy.root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...['--config', configFile],
    ...['--reporter', 'json', '--outputFile', report],
    ...['--testTimeout', String(testMsMax)],
    ...(bail ? ['--bail', '1'] : []),
    ...exclude.flatMap((pattern) => ['--exclude', pattern]),
    ...(only === undefined ? [] : ['--testNamePattern', only]),
    ...files,
  ])
  return { tests: testsIn(report, copy.root), hung, exitCode, said }
}

/** Each run of the suite expects a server that nobody has used. One of its own would cost seconds, a database does not. */
async function emptyDatabase(postgresUrl: string): Promise<void> {
  const url = new URL(postgresUrl)
  const name = pg.escapeIdentifier(url.pathname.slice(1))
  url.pathname = '/template1'
  const client = new pg.Client(url.href)
  await client.connect()
  await client.query(`drop database if exists ${name} with (force)`)
  await client.query(`create database ${name} template template0`)
  await client.end()
}

interface Ended {
  readonly exitCode: number | null
  readonly hung: boolean
  readonly said: string
}

const saidLengthMax = 4_000

/** It runs in a group of its own, so that nothing of it is left when it has to be ended. */
function ended({ copy, postgresUrl, wallMsMax, stop }: TestOptions, args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, TMPDIR: copy.temporary, BELFRY_MUTANTS_POSTGRES: postgresUrl, CI: '1' }
  const child = spawn(process.execPath, args, {
    cwd: copy.root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let hung = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      said = (said + String(bytes)).slice(-saidLengthMax)
    })
  }
  const end = () => endGroup(child.pid)
  const timer = setTimeout(() => {
    hung = true
    end()
  }, wallMsMax)
  stop.addEventListener('abort', end)
  if (stop.aborted) end()
  return new Promise((resolve) => {
    child.once('close', (exitCode) => {
      clearTimeout(timer)
      stop.removeEventListener('abort', end)
      resolve({ exitCode, hung, said })
    })
  })
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended by itself.
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly duration?: number
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

function testsIn(path: string, root: string): Ran[] {
  const { testResults } = readReport(path)
  return testResults.flatMap(({ name, assertionResults }) => {
    const file = name.startsWith(root) ? name.slice(root.length + 1) : name
    return assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map((one) => ({
        file,
        name: one.fullName,
        passed: one.status === 'passed',
        ms: one.duration ?? 0,
        message: one.failureMessages?.[0] ?? '',
      }))
  })
}

function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // It was ended before it could write one.
    return { testResults: [] }
  }
}

/** A suite as it is typed. */
export function suiteText({ file, only }: Suite): string {
  return only === undefined ? file : `${file} -t '${only}'`
}
