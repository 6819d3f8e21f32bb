import { describe, expect, it } from 'vitest'
import { scheduleOperations } from '../../../../src/operations/schedule/noun.ts'
import type { ScheduleInput } from '../../../../src/operations/schedule/schedule-input.ts'
import { atDesk, verbsAt } from '../../../operations/desk.ts'
import { shown } from '../shown.ts'

const desk = atDesk()
const { schedules } = verbsAt(() => desk().context)
const nightly = {
  name: 'nightly',
  cron: '0 2 * * *',
  target: { command: ['./backup.sh', '--full'] as [string, string], cwd: '.' },
}
const place = 'sqlite /srv/app/.belfry/belfry.db'

async function echoed(input: ScheduleInput, isRehearsal = false): Promise<string[]> {
  const { context, clock } = desk()
  const verbs = verbsAt(() => (isRehearsal ? { ...context, store: context.store.rehearsal() } : context))
  const written = await verbs.schedules.put(input)
  const sheet = { now: clock.now(), zone: 'Asia/Tokyo', place, isRehearsal }
  return (await shown(scheduleOperations.put, written, sheet)).split('\n')
}

describe('the echo of a schedule that was written', () => {
  it('says what came of it and where, what it does, and when next', async () => {
    expect(await echoed(nightly)).toEqual([
      'created nightly in sqlite /srv/app/.belfry/belfry.db',
      '  At 02:00, every day (Europe/Paris). Runs /srv/app/backup.sh --full in /srv/app.',
      '  next  2026-01-06 02:00 Europe/Paris  2026-01-06T01:00Z  in 16 h',
      '        2026-01-07 02:00 Europe/Paris  2026-01-07T01:00Z  in 1 d 16 h',
      '        2026-01-08 02:00 Europe/Paris  2026-01-08T01:00Z  in 2 d 16 h',
      '        2026-01-09 02:00 Europe/Paris  2026-01-09T01:00Z  in 3 d 16 h',
      '        2026-01-10 02:00 Europe/Paris  2026-01-10T01:00Z  in 4 d 16 h',
    ])
  })

  it('shows each change with what stood there before, in the words of the input', async () => {
    await schedules.put({ ...nightly, timeout: '1h', startAt: '2026-01-01T00:00Z', payload: { full: true } })
    const cron = '30 2 * * *'
    const lines = await echoed({ ...nightly, cron, timeout: '90m', endAt: '2027-01-01T00:00Z', queue: 'b' })
    expect(lines[0]).toBe('updated nightly in sqlite /srv/app/.belfry/belfry.db')
    expect(lines.slice(2, 4)).toEqual([
      '  next     2026-01-06 02:30 Europe/Paris  2026-01-06T01:30Z  in 17 h',
      '           2026-01-07 02:30 Europe/Paris  2026-01-07T01:30Z  in 1 d 16 h',
    ])
    expect(lines.slice(7)).toEqual([
      '  queue    b is new: at most 1 at a time',
      '  changed  startAt: 2026-01-01T00:00Z → none',
      '           payload: {"full":true} → none',
      '           cron: 0 2 * * * → 30 2 * * *',
      '           timeout: 1h → 1h30m',
      '           endAt: none → 2027-01-01T00:00Z',
      '           queue: none → b',
    ])
  })

  it('shows a new target in words, and that something of it changed which is never shown', async () => {
    const target = (url: string, key: string) => ({ http: { url, headers: { authorization: key } } })
    await schedules.put({ name: 'ping', every: '10s', target: target('https://example.org/a', 'hunter2') })
    const other = await echoed({ name: 'ping', every: '10s', target: target('https://example.org/b', 'hunter2') })
    expect(other.at(-1)).toBe('  changed  target: GET https://example.org/a → GET https://example.org/b')
    const hidden = await echoed({ name: 'ping', every: '10s', target: target('https://example.org/b', 'hunter3') })
    expect(hidden.at(-1)).toBe('  changed  target: GET https://example.org/b (in fields that are not shown)')
    expect([...other, ...hidden].join('\n')).not.toContain('hunter')
  })

  it('says that nothing changed where nothing did', async () => {
    const [, ...told] = await echoed(nightly)
    const [headline, ...again] = await echoed(nightly)
    expect(headline).toBe('unchanged: nightly in sqlite /srv/app/.belfry/belfry.db')
    expect(again).toEqual(told)
  })

  it('of a rehearsal says so, whatever would have come of it, and shows the rest as it would have been', async () => {
    const rehearsal = ' in sqlite /srv/app/.belfry/belfry.db (dry run: nothing was written)'
    const [first, ...rest] = await echoed(nightly, true)
    expect(first).toBe(`would create nightly${rehearsal}`)
    const [, ...told] = await echoed(nightly)
    expect(rest).toEqual(told)
    const [second, ...more] = await echoed({ ...nightly, cron: '0 3 * * *' }, true)
    expect(second).toBe(`would update nightly${rehearsal}`)
    expect(more.at(-1)).toBe('  changed  cron: 0 2 * * * → 0 3 * * *')
    expect((await echoed(nightly, true))[0]).toBe(`would not change: nightly${rehearsal}`)
  })

  it('marks the night in which the clocks change', async () => {
    desk().clock.set(Date.UTC(2026, 2, 28, 12))
    const lines = await echoed({ ...nightly, cron: '30 2 * * *' })
    expect(lines[2]).toBe(
      '  next  2026-03-29 03:00 Europe/Paris  2026-03-29T01:00Z  in 13 h      02:30 on 2026-03-29 does not exist, so it runs at the first instant after the gap',
    )
  })

  it('says why nothing comes next', async () => {
    const last = async (input: ScheduleInput) => (await echoed(input)).at(-1)
    expect(await last({ name: 'by hand', target: { handler: 'a' } })).toBe('  next  none of its own')
    await schedules.put(nightly)
    await schedules.pause('nightly', { reason: 'The disk\nis full.' })
    expect(await last(nightly)).toBe(String.raw`  next  none until it is resumed: The disk\u{a}is full.`)
    const once = { name: 'once', at: '2026-01-05T09:30Z', target: { handler: 'a' } }
    await schedules.put(once)
    desk().clock.advance(3_600_000)
    await desk().store.fireDue({ limit: 10 })
    expect(await last(once)).toBe('  next  none any more')
  })
})
