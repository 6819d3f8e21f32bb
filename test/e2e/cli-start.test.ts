import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { binary, Shell } from './belfry-process.ts'

const preload = fileURLToPath(new URL('loaded.cjs', import.meta.url))

/** The packages that a command loads. What is imported as a module is not among them, but these are all of the old kind. */
function loadedBy(shell: Shell, words: string): string[] {
  const report = `${shell.folder}/loaded`
  const { PATH = '' } = process.env
  execFileSync(process.execPath, ['--require', preload, binary, ...words.split(' '), ...shell.store], {
    cwd: shell.folder,
    env: { PATH, LOADED: report },
    stdio: 'pipe',
  })
  return readFileSync(report, 'utf8').split('\n')
}

const imported = /^(?:import|export)\b[^'"()]*?\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']/gm

/** What is loaded before anybody knows what was typed: the files of the program and the packages that they import, without what is loaded on demand. */
function loadedAtOnce(file: string, known = new Map<string, string>()): ReadonlyMap<string, string> {
  const text = readFileSync(file, 'utf8')
  known.set(file, text)
  for (const [, from, alone] of text.matchAll(imported)) {
    const name = from ?? alone ?? ''
    if (!name.startsWith('.')) known.set(name, '')
    else if (!known.has(resolve(dirname(file), name))) loadedAtOnce(resolve(dirname(file), name), known)
  }
  return known
}

describe('a command', () => {
  it('loads nothing that only workers and PostgreSQL need, or it would not start in time', async () => {
    const shell = new Shell('sqlite')
    await shell.belfry('schedule create a --every 1h --handler h')
    const heavy = ['pg', 'undici', 'pino']
    for (const words of ['--version', 'schedule list', 'schedule create b --every 1h --handler h']) {
      expect({ words, loaded: heavy.filter((name) => loadedBy(shell, words).includes(name)) }).toEqual({
        words,
        loaded: [],
      })
    }
  })

  it('has neither the client nor the server among what is loaded before it is known what was typed', () => {
    const commandLine = fileURLToPath(new URL('../../dist/chunks/typed-command.js', import.meta.url))
    const loaded = loadedAtOnce(commandLine, new Map(loadedAtOnce(binary)))
    expect([...loaded.keys()]).toEqual(expect.arrayContaining(['commander', 'zod']))
    const later = [...loaded.keys()].filter((name) => /^(hono|@hono\/|@modelcontextprotocol\/|prom-client)/.test(name))
    expect(later).toEqual([])
    // Each is in one of the files, and in none of these.
    const made = /(?:class (?:BelfryClient|HttpDoor)\b|\b(?:BelfryClient|HttpDoor) = class\b)/
    expect([...loaded].filter(([, text]) => made.test(text)).map(([name]) => name)).toEqual([])
    const chunks = fileURLToPath(new URL('../../dist/chunks/', import.meta.url))
    const files = readdirSync(chunks).filter((name) => made.test(readFileSync(`${chunks}${name}`, 'utf8')))
    expect(files.length).toBeGreaterThanOrEqual(2)
  })

  it('is seen to load what it does need, and the client of HTTP targets only where a run has one', async () => {
    const shell = new Shell('sqlite')
    expect(loadedBy(shell, 'up --once')).toContain('pino')
    expect(loadedBy(shell, 'up --once')).not.toContain('undici')
    await shell.belfry('run enqueue --http http://127.0.0.1:9/')
    expect(loadedBy(shell, 'up --once')).toContain('undici')
    expect(loadedBy(new Shell('postgres'), 'queue set a --max-concurrent 1')).toContain('pg')
  })
})
