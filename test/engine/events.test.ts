import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Events } from '../../src/engine/events.ts'

const told = { workerId: 'w', slots: null }

describe('events', () => {
  it('reach everybody, although one of those who listen throws, and what he threw is not swallowed', async () => {
    const events = new Events()
    const heard: unknown[] = []
    events.on('worker.started', () => {
      throw new Error('a defect of the listener')
    })
    events.on('worker.started', (event) => heard.push(event))
    const warned = once(process, 'warning')
    events.tell('worker.started', told)
    expect(heard).toEqual([told])
    const [warning] = await warned
    expect(warning).toMatchObject({ message: 'a defect of the listener' })
  })

  it('reach one who wanted to hear it once, once', () => {
    const events = new Events()
    let times = 0
    events.once('worker.started', () => times++)
    events.tell('worker.started', told)
    events.tell('worker.started', told)
    expect(times).toBe(1)
  })
})
