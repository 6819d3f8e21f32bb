import { afterEach, describe, expect, it } from 'vitest'
import { commandExecutor } from '../../../src/targets/command/command-executor.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { Stage, script } from './attempt.ts'
import { isRunning, vanished } from './processes.ts'

/** What a test let escape on purpose. */
const strays: number[] = []
afterEach(async () => {
  for (const pid of strays.splice(0)) {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    await vanished(pid)
  }
})

const quick = commandExecutor({ killAfterMs: 100 })
const patient = commandExecutor({ killAfterMs: 600_000 })

describe('a program that is told to stop', () => {
  it('may end in its own way', async () => {
    const stage = new Stage({ command: `trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done` })
    const ended = patient(stage.attempt)
    await stage.says(/up/)
    stage.stop('timeout')
    expect((await ended).facts).toMatchObject({ exitCode: 5, text: 'up\nbye\n' })
  })

  it('is killed when it does not, with all it started', async () => {
    const stage = new Stage({ command: `trap '' TERM; sleep 1000 & echo up $! $$; while :; do sleep 0.01; done` })
    const ended = quick(stage.attempt)
    const [, child, main] = await stage.says(/up (\d+) (\d+)/)
    stage.stop('cancelled')
    expect((await ended).facts).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect([Number(child), Number(main)].filter(isRunning)).toEqual([])
  })

  it('is not answered for before its last descendant is gone, however soon the program itself went', async () => {
    const stubborn = `process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1e6); console.log('up', process.pid)`
    const stage = new Stage({ command: ['sh', '-c', '"$@" & wait', 'sh', ...script(stubborn)] })
    const ended = quick(stage.attempt)
    const [, pid] = await stage.says(/up (\d+)/)
    stage.stop('lease-lost')
    expect((await ended).facts).toMatchObject({ signal: 'SIGTERM' })
    expect(isRunning(Number(pid))).toBe(false)
  })

  it('is killed in real time, though the attempt lives by a clock that stands still', async () => {
    const stage = new Stage(
      { command: `trap '' TERM; echo up; while :; do sleep 0.01; done` },
      { clock: new TestClock() },
    )
    const ended = quick(stage.attempt)
    await stage.says(/up/)
    stage.stop('shutdown')
    expect(await ended).toMatchObject({ facts: { signal: 'SIGKILL' }, result: { durationMs: 0 } })
  })
})

describe('a program that ends leaves nothing behind', () => {
  it('not a child in the background that holds its output open', async () => {
    const stage = new Stage({ command: 'sleep 1000 & echo $!' })
    const { facts } = await patient(stage.attempt)
    expect(facts).toMatchObject({ exitCode: 0 })
    expect(isRunning(Number(stage.heard))).toBe(false)
  })

  it('not a child that will not end when asked', async () => {
    const stubborn = `process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1e6); console.log('up')`
    const parent = `
      const child = require('node:child_process').spawn(process.execPath, ['-e', process.argv[1]])
      child.stdout.once('data', () => { console.log(child.pid); process.exit() })`
    const stage = new Stage({ command: [...script(parent), stubborn] })
    const { facts } = await quick(stage.attempt)
    expect(facts).toMatchObject({ exitCode: 0 })
    expect(isRunning(Number(stage.heard))).toBe(false)
  })

  it('and does not wait for one that left its group and holds its output open', async () => {
    const leaver = `
      const child = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' })
      console.log(child.pid)
      child.unref()`
    const stage = new Stage({ command: script(leaver) })
    const { facts } = await patient(stage.attempt)
    strays.push(Number(stage.heard))
    expect(facts).toMatchObject({ exitCode: 0 })
    expect(isRunning(Number(stage.heard))).toBe(true)
  })

  it('and does not listen for ever to one that left its group and does not fall silent', async () => {
    const leaver = `
      const child = require('node:child_process').spawn('yes', [], { detached: true, stdio: 'inherit' })
      console.error('stray', child.pid)
      child.unref()`
    const stage = new Stage({ command: script(leaver) })
    await patient(stage.attempt)
    const [, pid] = await stage.says(/stray (\d+)/)
    strays.push(Number(pid))
    await vanished(Number(pid))
  })
})

describe('a program that floods', () => {
  it('waits while there is no room for more, and nothing of it is lost', async () => {
    const floodBytes = 50 * 1024 * 1024
    let length = 0
    let unasked = 0
    let unaskedMax = 0
    const stage = new Stage(
      { command: ['sh', '-c', `yes | head -c ${floodBytes}`] },
      {
        output(text) {
          length += text.length
          unasked += text.length
          unaskedMax = Math.max(unaskedMax, unasked)
        },
        async drained() {
          await new Promise((resolve) => setImmediate(resolve))
          unasked = 0
        },
      },
    )
    const { facts } = await patient(stage.attempt)
    expect(facts).toMatchObject({ exitCode: 0 })
    expect(length).toBe(floodBytes)
    // A piece at a time; only what is left in the pipe when the program has ended is taken without asking.
    expect(unaskedMax).toBeLessThan(1024 * 1024)
  })

  it('is stopped also when there will never be room again', async () => {
    let length = 0
    const stage = new Stage(
      // Without a trap: a shell that is told to stop just before it waits for room would run its trap only after that.
      { command: 'while :; do printf %5000s x; done' },
      {
        output(text) {
          length += text.length
          stage.hear('.')
        },
        drained: () => new Promise(() => undefined),
      },
    )
    const ended = patient(stage.attempt)
    await stage.says(/\./)
    stage.stop()
    expect((await ended).facts).toMatchObject({ exitCode: null, signal: 'SIGTERM' })
    expect(length).toBeLessThan(3 * 1024 * 1024)
  })
})
