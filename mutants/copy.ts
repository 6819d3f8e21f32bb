import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const parts = [
  'src',
  'sim',
  'test',
  'scripts',
  'bin',
  'docs',
  'examples',
  'dist',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.proofs.json',
  'biome.json',
  '.gitignore',
]

/** Tests by the names of their files, without the builds and servers that each run of the suite starts for itself. */
const config = `export default {
  root: import.meta.dirname,
  cacheDir: '.vite',
  test: {
    globalSetup: ['./mutants-setup.mjs'],
    include: ['test/**/*.test.ts'],
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
  },
}
`
const setup = `export default (project) => project.provide('postgresUrl', process.env.BELFRY_MUTANTS_POSTGRES)
`
export const configFile = 'mutants-vitest.mjs'

/** What the compiler says of a breakage that is no breakage: text that is no program, or names that nobody has. */
const meaningless = /error TS(1\d{3}|2304|2339|2552)\b/

/** A copy of the repository in which things may be broken. */
export class Copy {
  readonly root: string
  /** Where its tests make their own folders, so that they go with it. */
  readonly temporary: string
  readonly #home: string

  private constructor(repository: string) {
    this.#home = mkdtempSync(join(tmpdir(), 'belfry-mutants-'))
    // PostgreSQL, which root starts as another user, must reach the folders that tests make for it.
    chmodSync(this.#home, 0o755)
    this.root = join(this.#home, 'copy')
    this.temporary = join(this.#home, 't')
    mkdirSync(this.root)
    mkdirSync(this.temporary)
    for (const part of parts) {
      const from = join(repository, part)
      if (existsSync(from)) cpSync(from, join(this.root, part), { recursive: true, preserveTimestamps: true })
    }
    symlinkSync(join(repository, 'node_modules'), join(this.root, 'node_modules'))
    writeFileSync(join(this.root, configFile), config)
    writeFileSync(join(this.root, 'mutants-setup.mjs'), setup)
  }

  static of(repository: string): Copy {
    return new Copy(repository)
  }

  /** Builds what child processes run; answers what makes it no program at all. Types need not hold in it. */
  async build(): Promise<string | null> {
    const compiler = join(this.root, 'node_modules/typescript/bin/tsc')
    try {
      await run(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: this.root })
      return null
    } catch (error) {
      const { stdout = '', message } = error as Error & { stdout?: string }
      const said = stdout === '' ? message : stdout
      return said.split('\n').find((line) => meaningless.test(line)) ?? (stdout === '' ? message : null)
    }
  }

  /** The command line is one file of its own, which only few tests start. */
  async bundle(): Promise<void> {
    await run(process.execPath, [join(this.root, 'scripts/bundle-cli.mjs')], { cwd: this.root })
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true })
  }
}
