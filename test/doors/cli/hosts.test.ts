import { afterAll, expect, it } from 'vitest'
import { Terminal } from './terminal.ts'

const terminal = new Terminal()
afterAll(() => terminal.remove())

it('a host is told in words that the queue is at its ceiling', async () => {
  await terminal.json('queue set mail --max-concurrent 1')
  await terminal.json('run enqueue --queue mail --target null')
  const ceiling = 'the queue is at its ceiling: no run is leased until one of its runs ends'
  expect((await terminal.belfry('sched lease a --queue mail')).stdout).not.toContain(ceiling)
  expect((await terminal.belfry('sched lease b --queue mail')).stdout).toContain(ceiling)
  expect(await terminal.json('sched lease b --queue mail')).toMatchObject({ leases: [], full: true })
})

it('the figures of queue default are there before the first work, as the queue itself is', async () => {
  expect((await terminal.belfry('queue show default')).exit).toBe(0)
  const { exit, stdout } = await terminal.belfry('queue stats default')
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining('0') })
  expect(await terminal.json('queue stats default')).toMatchObject({ inFlight: 0, inLine: { count: 0 } })
  expect((await terminal.belfry('queue stats nowhere')).exit).toBe(3)
})
