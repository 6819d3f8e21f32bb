import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../scripts/postgres-server.mjs'

/**
 * A PostgreSQL that can be stopped at once, as a power cut would, and started again on what it had written. The server
 * itself keeps the command it was started with in its data folder, so that it comes back with the same settings.
 */
export class PostgresCluster {
  readonly url: string
  readonly #server: Awaited<ReturnType<typeof startPostgres>>
  readonly #data: string
  #again: ChildProcess | null = null

  private constructor(server: Awaited<ReturnType<typeof startPostgres>>, data: string) {
    this.url = server.url
    this.#server = server
    this.#data = data
    process.once('exit', this.#leave)
  }

  static async start(): Promise<PostgresCluster> {
    const server = await startPostgres()
    const [row] = await asked(server.url, 'show data_directory')
    return new PostgresCluster(server, String(row?.data_directory))
  }

  get pid(): number {
    return this.#again?.pid ?? this.#server.pid ?? Number.NaN
  }

  /** What `pg_ctl stop -m immediate` does: nobody takes leave, and the next start recovers from the log. */
  async stopAtOnce(): Promise<void> {
    process.kill(this.pid, 'SIGQUIT')
    const file = join(this.#data, 'postmaster.pid')
    for (const patience = Date.now() + 30_000; existsSync(file) || isAlive(this.pid); await turn()) {
      if (Date.now() > patience) throw new Error('PostgreSQL did not stop.')
    }
  }

  /** Answers when it accepts connections again. */
  async startAgain(): Promise<void> {
    const [program = '', ...flags] = wordsOf(readFileSync(join(this.#data, 'postmaster.opts'), 'utf8'))
    const { uid, gid } = statSync(this.#data)
    const owner = process.getuid?.() === 0 ? { uid, gid } : {}
    const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
    const server = spawn(program, flags, { ...owner, env, stdio: ['ignore', 'ignore', 'pipe'] })
    this.#again = server
    let said = ''
    await new Promise<void>((resolve, reject) => {
      server.stderr.on('data', (chunk) => {
        said = (said + chunk).slice(-8_000)
        if (said.includes('ready to accept connections')) resolve()
      })
      server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code} while starting:\n${said}`)))
    })
  }

  /** Whoever breaks off in the middle leaves no server behind. */
  readonly #leave = () => {
    if (isAlive(this.pid)) process.kill(this.pid, 'SIGQUIT')
  }

  async stop(): Promise<void> {
    process.off('exit', this.#leave)
    const again = this.#again
    if (again !== null && again.exitCode === null && again.signalCode === null) {
      const gone = once(again, 'exit')
      again.kill('SIGINT')
      await gone
    }
    await this.#server.stop()
  }
}

/** Asks once, on a connection of its own. */
export async function asked(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'belfry-faults' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The words of a command line in which each but the first stands in double quotes. */
function wordsOf(line: string): string[] {
  return [...line.trim().matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5)
  })
}
