import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Belfry } from '../../src/index.ts'
import type { HandlerRun } from '../../src/targets/handler/handler-run.ts'
import { programPath } from './worker-process.ts'

const program = programPath('phase-process.mjs')
/** The built library: a harness that was compiled elsewhere has none of the files beside the code. */
const library = pathToFileURL(join(dirname(program), '../../dist/index.js')).href
const leaseMs = 1_000

export interface PhaseStore {
  readonly store: string
  readonly schema?: string
  readonly folder: string
}

/** What is left to do is the critic, which writes the document and then a snapshot. */
const begun = {
  _id: 'a',
  _builder: 'brief',
  _content: 'content',
  _generatedAt: '2026-01-01T00:00:00.000Z',
  _phaseState: { architect: 'fresh', builder: 'fresh', critic: 'pending' },
}

export interface Struck {
  /** Points of the phase, where its worker came to its end. */
  readonly points: number | null
  readonly troubles: readonly string[]
}

type Blow = { readonly point: number } | { readonly at: string }

interface Scene {
  readonly name: string
  readonly root: string
  readonly run: string
  readonly child: ChildProcess
  /** The document as it lies there. */
  readonly read: () => Record<string, unknown>
}

/** Kills workers in the middle of a phase, each on a corpus of its own, goes on with another worker, and reads what came of it. */
export class PhaseKills {
  readonly #belfry: Belfry
  readonly #place: PhaseStore
  readonly #paid: string[] = []
  #corpora = 0

  constructor(belfry: Belfry, place: PhaseStore) {
    this.#belfry = belfry
    this.#place = place
    belfry.handle('write', ({ payload }: HandlerRun) => {
      const { item, phase } = payload as { item: string; phase: string }
      this.#paid.push(phase)
      return `${phase} of ${item}`
    })
  }

  static async open(place: PhaseStore): Promise<PhaseKills> {
    const { store, schema } = place
    const { Belfry } = (await import(library)) as typeof import('../../src/index.ts')
    return new PhaseKills(
      await Belfry.open({ store, leaseMs, log: false, ...(schema !== undefined && { schema }) }),
      place,
    )
  }

  /** Its corpora are deleted first: their ticks would go on for ever. */
  async close(): Promise<void> {
    for (let number = 1; number <= this.#corpora; number++) await this.#belfry.corpora.delete(nameOf(number))
    await this.#belfry.close()
  }

  /** A worker is killed at a point of a phase; without a blow it comes to the end. */
  async strike(blow?: { readonly point: number }): Promise<Struck> {
    const scene = await this.#begin(blow)
    const said = text(scene.child.stdout as NodeJS.ReadableStream)
    const wrong = text(scene.child.stderr as NodeJS.ReadableStream)
    const [code, signal] = (await once(scene.child, 'exit')) as [number | null, string | null]
    if (code !== 0 && signal !== 'SIGKILL')
      return { points: null, troubles: [`the worker ended with ${code}: ${await wrong}`] }
    const then = scene.read()
    const troubles = await this.#goOn(scene, then)
    return {
      points: code === 0 ? Number(await said) : null,
      troubles: troubles.map((one) => `point ${blow?.point}: ${one}`),
    }
  }

  /**
   * A worker is stopped at a call of a phase for longer than its lease, and goes on after another hand has edited the item.
   * Before its fence is checked another worker takes the phase meanwhile. After that SQLite lets no one write, and PostgreSQL
   * gives up the transaction of a silent process: its rename comes when it is no longer its own.
   */
  async pause(at: string): Promise<Struck> {
    const scene = await this.#begin({ at })
    const ended = once(scene.child, 'exit')
    await stopped(scene.child)
    await sleep(leaseMs * 2)
    const troubles = at === 'renameSync' ? [] : await this.#goOn(scene, scene.read())
    const isClosed = at === 'renameSync' && this.#place.schema === undefined
    if (!isClosed) await this.#belfry.corpora.update(scene.name, 'a', { emphasis: 2 })
    scene.child.kill('SIGCONT')
    await ended
    const edits = isClosed ? 0 : 1
    if (edits === 1 && scene.read()._emphasis !== 2) troubles.push('an edit was lost')
    troubles.push(...(await this.#goOn(scene, scene.read(), edits)))
    return { points: null, troubles: troubles.map((one) => `stopped at ${at}: ${one}`) }
  }

  async #begin(blow: Blow | undefined): Promise<Scene> {
    this.#corpora += 1
    const name = nameOf(this.#corpora)
    const root = join(this.#place.folder, name, 'notes')
    mkdirSync(join(root, 'a/.meta'), { recursive: true })
    writeFileSync(join(root, 'a/README.md'), 'a')
    // Older than what was generated from it.
    utimesSync(join(root, 'a/README.md'), 0, 0)
    writeFileSync(join(root, 'a/.meta/meta.json'), JSON.stringify(begun))
    const { corpora } = this.#belfry
    await corpora.create({ name, root, target: { handler: 'write' } })
    await corpora.scan(name)
    const { run } = await corpora.trigger({ name, path: 'a' })
    const { store, schema } = this.#place
    const child = spawn(process.execPath, [program, JSON.stringify({ store, schema, root, run, leaseMs, ...blow })])
    const file = join(root, 'a/.meta/meta.json')
    const read = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return { name, root, run: run as string, child, read }
  }

  /** Another worker takes over. A phase whose commit stood is not paid for again, and any other is, once. */
  async #goOn({ name, root, run, read }: Scene, then: Record<string, unknown>, edits = 0): Promise<string[]> {
    const { corpora, runs } = this.#belfry
    const wasCommitted = then._commit !== undefined
    this.#paid.length = 0
    await this.#belfry.start()
    await runs.wait(run)
    await corpora.scan(name)
    for (let turn = 0; turn < 3 && (await corpora.item(name, 'a')).item.status !== 'fresh'; turn += 1) {
      const { run: again } = await corpora.trigger({ name, path: 'a' })
      if (again !== null) await runs.wait(again)
    }
    await this.#belfry.stop()
    const { item } = await corpora.item(name, 'a')
    const now = read()
    const found = {
      status: item.status,
      paid: this.#paid.length,
      count: now._synthesisCount,
      revision: now._revision,
      feedback: now._feedback,
      owner: now.owner,
    }
    const right = {
      status: 'fresh',
      paid: wasCommitted ? 0 : 1,
      count: 1,
      revision: 1 + edits,
      feedback: 'critic of a',
      owner: then.owner,
    }
    const left = readdirSync(join(root, 'a/.meta')).filter((one) => one.endsWith('.tmp'))
    const paidBefore = existsSync(join(root, '../paid'))
      ? readFileSync(join(root, '../paid'), 'utf8').trim().split('\n').length
      : 0
    return [
      ...(JSON.stringify(found) === JSON.stringify(right)
        ? []
        : [`${JSON.stringify(found)} in place of ${JSON.stringify(right)}`]),
      ...left.map((one) => `${one} was left`),
      ...(paidBefore > 1 ? [`the killed worker paid ${paidBefore} times`] : []),
    ]
  }
}

function nameOf(corpus: number): string {
  return `c${corpus}`
}

/** Resolves once the process is stopped. */
async function stopped({ pid }: ChildProcess): Promise<void> {
  while (!/\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) await sleep(20)
}
