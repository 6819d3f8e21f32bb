import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Belfry, type OpenOptions } from '../../../src/index.ts'
import type { HandlerRun } from '../../../src/targets/handler/handler-run.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'

export interface Handed {
  readonly item: string
  readonly phase: string
  readonly brief?: string
  readonly content?: string
  readonly state?: string
  readonly feedback?: string
  readonly steer?: string
  readonly scope: { readonly files: readonly string[] }
  readonly delta: { readonly files: readonly string[] }
  readonly children: Readonly<Record<string, string | null>>
  readonly references: Readonly<Record<string, string | null>>
}

export type Answer = (handed: Handed, run: HandlerRun) => unknown

export type StoreKind = 'SQLite' | 'PostgreSQL'

/** The answer of a phase, unless a test gives another: a text that depends on everything that the phase reads. */
export const plainly: Answer = ({ phase, item, delta, children, references }) => {
  if (phase !== 'builder') return `${phase} of ${item}`
  const read = [...delta.files, ...Object.values(children), ...Object.values(references)].join(' ')
  return { _content: `content of ${item} ${read.length}`, _state: { done: true }, title: item, usage: { tokens: 100 } }
}

/** A store with a corpus in its own folder; a handler answers for the phases. */
export class CorpusScene {
  readonly folder = mkdtempSync(join(tmpdir(), 'belfry-corpus-'))
  readonly root = join(this.folder, 'notes')
  belfry!: Belfry
  /** The place of the store. */
  store!: string
  readonly handed: Handed[] = []
  answer: Answer = plainly
  #opened: OpenOptions = {}

  static async open(
    definition: object = {},
    {
      kind = 'SQLite',
      files = {},
      ...options
    }: OpenOptions & { kind?: StoreKind; files?: Record<string, string> } = {},
  ): Promise<CorpusScene> {
    const scene = new CorpusScene()
    mkdirSync(scene.root)
    for (const [path, text] of Object.entries(files)) scene.write(path, text)
    const schema = kind === 'SQLite' ? undefined : lendSchema()
    const store = schema === undefined ? { store: options.store ?? 'memory:' } : { store: postgresUrl(), schema }
    scene.store = store.store.replace('sqlite:', `sqlite:${scene.folder}/`)
    scene.#opened = { log: false, allowNonDurable: true, ...options, ...store, store: scene.store }
    scene.belfry = await Belfry.open(scene.#opened)
    scene.belfry.handle('write', (run: HandlerRun) => {
      const handed = run.payload as Handed
      scene.handed.push(handed)
      return scene.answer(handed, run)
    })
    onTestFinished(async () => {
      await scene.belfry.close()
      if (schema !== undefined) await returnSchema(schema)
      rmSync(scene.folder, { recursive: true, force: true })
    })
    await scene.belfry.corpora.create({ name: 'notes', root: scene.root, target: { handler: 'write' }, ...definition })
    await scene.belfry.start()
    return scene
  }

  /** Opens the store again, which is no `memory:`, in a process that neither executes nor watches. */
  async retire(): Promise<void> {
    await this.belfry.close()
    this.belfry = await Belfry.open(this.#opened)
  }

  write(path: string, text: string, at?: Date): void {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (at !== undefined) utimesSync(file, at, at)
  }

  document(path: string): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.root, path, '.meta/meta.json'), 'utf8'))
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path))
  }

  /** Makes items of these folders, each with a file. */
  async seed(...paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (!this.has(`${path}/README.md`)) this.write(`${path}/README.md`, `# ${path}`)
      await this.belfry.corpora.seed({ name: 'notes', path })
    }
  }

  /** Runs one phase of the first item in the ranking, or of the given item, and returns how its run ended. */
  async play(path?: string): Promise<string> {
    const { run } = await this.belfry.corpora.trigger({ name: 'notes', ...(path !== undefined && { path }) })
    if (run === null) return 'nothing'
    return (await this.belfry.runs.wait(run)).status
  }

  /** Runs phases until nothing is owed, up to a limit. */
  async settle(most = 50): Promise<number> {
    for (let phases = 0; ; phases += 1) {
      await this.belfry.corpora.scan('notes')
      if (phases >= most || (await this.play()) === 'nothing') return phases
    }
  }

  async item(path: string) {
    return (await this.belfry.corpora.item('notes', path)).item
  }
}
