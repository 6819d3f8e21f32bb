import { describe, expect, it } from 'vitest'
import { Events } from '../../src/engine/events.ts'
import { Listeners } from '../../src/library/listeners.ts'
import { loggerOf } from '../../src/library/log.ts'
import { problemsIn } from '../operations/desk.ts'

function listening() {
  const events = new Events()
  const heard: number[] = []
  return {
    events,
    heard,
    listeners: new Listeners(events, loggerOf(false)),
    listener: ({ afterMs }: { readonly afterMs: number }) => void heard.push(afterMs),
    tell(afterMs: number) {
      events.tell('store.back', { afterMs })
    },
  }
}

describe('one listener that listens twice', () => {
  it('once and always, hears the first event twice and each later one once', () => {
    const { events, listeners, listener, heard, tell } = listening()
    listeners.once('store.back', listener)
    listeners.on('store.back', listener)
    for (const afterMs of [1, 2, 3]) tell(afterMs)
    expect(heard).toEqual([1, 1, 2, 3])
    listeners.off('store.back', listener)
    tell(4)
    expect(heard).toHaveLength(4)
    expect(events.listenerCount('store.back')).toBe(0)
  })

  it('always and once, hears the same', () => {
    const { listeners, listener, heard, tell } = listening()
    listeners.on('store.back', listener)
    listeners.once('store.back', listener)
    for (const afterMs of [1, 2, 3]) tell(afterMs)
    expect(heard).toEqual([1, 1, 2, 3])
  })

  it('ends with off what it began last', () => {
    const { listeners, listener, heard, tell } = listening()
    listeners.on('store.back', listener)
    listeners.once('store.back', listener)
    listeners.off('store.back', listener)
    for (const afterMs of [1, 2]) tell(afterMs)
    expect(heard).toEqual([1, 2])
  })

  it('once and once, hears one event twice and no other, though it is told another while it hears', () => {
    const { listeners, listener, heard, tell } = listening()
    const telling = (event: { readonly afterMs: number }) => {
      listener(event)
      if (event.afterMs === 1) tell(2)
    }
    listeners.once('store.back', telling)
    listeners.once('store.back', telling)
    tell(1)
    tell(3)
    // The second had not yet heard of 1 when it heard of 2, and does not listen any more.
    expect(heard).toEqual([1, 2, 1])
  })
})

describe('what nobody can listen for is refused', () => {
  const names = ['on', 'once', 'off'] as const

  it.each(names)('by %s: a name that is no event, with the one that was meant', async (verb) => {
    const { events, listeners, listener } = listening()
    const [problem] = await problemsIn(() => listeners[verb]('run.complete' as never, listener))
    expect(problem).toEqual({
      field: 'event',
      problem: 'is "run.complete", which is not an event',
      expected: 'run.completed, if that was meant',
    })
    expect(events.eventNames()).toEqual([])
  })

  it.each(['', 'completed', 'toString', '__proto__', 'error', 'newListener', 5, undefined, Object.create(null)])(
    'a name like no other (%o), with all that there are',
    async (name) => {
      const { listeners, listener } = listening()
      const [problem] = await problemsIn(() => listeners.on(name as never, listener))
      expect(problem).toMatchObject({ field: 'event', expected: expect.stringContaining('run.completed') })
    },
  )

  it.each(names)('by %s: a listener that is none', async (verb) => {
    const { events, listeners } = listening()
    for (const [none, said] of [
      [undefined, 'is missing'],
      [null, 'is null'],
      [{ handleEvent: () => 1 }, 'is an object'],
    ]) {
      const [problem] = await problemsIn(() => listeners[verb]('run.failed', none as never))
      expect(problem).toEqual({ field: 'listener', problem: said, expected: 'a function that takes the event' })
    }
    expect(events.eventNames()).toEqual([])
  })
})
