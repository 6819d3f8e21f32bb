import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../src/index.ts'

const path = fileURLToPath(new URL('closing-worker.mjs', import.meta.url))

function begin(patience: 'ends' | 'never ends'): { worker: ChildProcess; store: string } {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-signals-'))
  const store = `sqlite:${join(folder, 'belfry.db')}`
  const worker = fork(path, [store, patience], { stdio: 'inherit' })
  onTestFinished(() => {
    worker.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return { worker, store }
}

async function said(worker: ChildProcess, what: string): Promise<void> {
  for (;;) {
    const [message] = await once(worker, 'message')
    if (message === what) return
  }
}

async function onlyRun(store: string) {
  const belfry = await Belfry.open({ store, log: false })
  onTestFinished(() => belfry.close())
  const { runs } = await belfry.runs.list({ limit: 2 })
  expect(runs).toHaveLength(1)
  return runs[0]
}

describe('a worker process', () => {
  it('that gets a signal lets what runs come to its end, and ends by itself', async () => {
    const { worker, store } = begin('ends')
    await said(worker, 'running')
    const stopping = said(worker, 'stopping')
    const exit = once(worker, 'exit')
    worker.kill('SIGTERM')
    await stopping
    worker.send('come to your end')
    worker.disconnect()
    expect(await exit).toEqual([0, null])
    expect(await onlyRun(store)).toMatchObject({ status: 'completed' })
  })

  it('that gets a second signal waits no longer, and gives back what it did not finish', async () => {
    const { worker, store } = begin('never ends')
    await said(worker, 'running')
    const stopping = said(worker, 'stopping')
    const exit = once(worker, 'exit')
    worker.kill('SIGTERM')
    await stopping
    worker.kill('SIGINT')
    worker.disconnect()
    expect(await exit).toEqual([0, null])
    expect(await onlyRun(store)).toMatchObject({ status: 'ready', fence: 1, attempts: 0 })
  })
})
