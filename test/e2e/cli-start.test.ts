import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
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

function medianMs(shell: Shell, words: string, times: number): number {
  const all = Array.from({ length: times }, () => {
    const startedAt = performance.now()
    execFileSync(process.execPath, [binary, ...words.split(' ')], { cwd: shell.folder, stdio: 'pipe' })
    return performance.now() - startedAt
  })
  return Math.round(all.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0)
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
    const took = ['--version', 'schedule list'].map((words) => `${words}: ${medianMs(shell, words, 5)} ms`)
    console.info(`from start to end, the median of five: ${took.join(', ')}`)
  })

  it('is seen to load what it does need', async () => {
    expect(loadedBy(new Shell('sqlite'), 'up --once')).toEqual(expect.arrayContaining(['undici', 'pino']))
    expect(loadedBy(new Shell('postgres'), 'queue set a --max-concurrent 1')).toContain('pg')
  })
})
