import { expect, it } from 'vitest'
import { at, hour, minute, open, type Stage, target } from '../../choices/stage.ts'

const holdEvents = (stage: Stage) =>
  stage.told
    .filter(({ name }) => name.startsWith('hold.'))
    .map(({ name, event }) => {
      const { on, because } = event as { on: string; because?: string }
      return [name, on, ...(because === undefined ? [] : [because])].join(' ')
    })

it('a worker tells of the holds that are there when it starts, of those that are put, and how each of them ended', async () => {
  const stage = await open()
  const { holds } = stage.belfry
  await holds.put({ on: 'kind:http', reason: 'why' })
  await stage.belfry.start()
  await stage.until('hold.put')
  await holds.stop({ reason: 'Incident 4711' })
  expect(await stage.until('hold.put', 2)).toMatchObject({ reason: 'stopped', note: 'Incident 4711', until: null })
  await holds.go()
  await stage.until('hold.lifted')
  await holds.put({ on: 'key:k', reason: 'why', for: '1h' })
  await stage.until('hold.put', 3)
  await stage.passTo(at('10:00').getTime())
  await stage.until('hold.lifted', 2)
  expect(holdEvents(stage)).toEqual([
    'hold.put kind:http',
    'hold.put namespace',
    'hold.lifted namespace lifted',
    'hold.put key:k',
    'hold.lifted key:k ended',
  ])
})

it.each([
  ['everything', 'namespace'],
  ['a queue', 'queue:default'],
  ['a kind', 'kind:handler/work'],
  ['a schedule', 'schedule:s'],
  ['a key', 'key:k'],
])('a worker that runs lets nothing start between the instants of a hold on %s, and wakes for both', async (_, on) => {
  const stage = await open()
  await stage.belfry.queues.set('default', { maxConcurrent: 10 })
  const every = { every: '30m', from: 'start', startNow: true, overlap: 'allow', maxLateness: '2h' } as const
  await stage.put({ ...every, concurrencyKey: 'k', target })
  const from = at('09:20')
  await stage.belfry.holds.put({ on, reason: 'why', from, until: new Date(from.getTime() + hour) })
  await stage.drainTo(from.getTime() + hour - minute)
  expect(stage.starts).toEqual(['09:00'])
  await stage.drainTo('10:20')
  expect(stage.starts).toEqual(['09:00', '10:20', '10:20'])
})
