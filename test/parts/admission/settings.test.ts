import { expect, it } from 'vitest'
import { spread } from '../../../src/core/timing/spread.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { errorOf, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'
import { actor, hour, inEachWard, minute, second } from '../../operations/store/ward.ts'
import { listAudit } from '../../store/list-audit.ts'

inEachWard((ward) => {
  const { settings, schedules, runs } = verbsAt(() => ward().context)
  const audit = (name: string) => ward().store.look(listAudit, `setting ${name}`)

  it('have defaults, and what is set is versioned, audited and known with its origin', async () => {
    const values = async () => Object.fromEntries((await settings.list({})).map(({ name, value }) => [name, value]))
    const standard = {
      recurringFraction: 0.1,
      recurringCapMs: 15 * minute,
      oneShotMaxMs: 90 * second,
      oneShotMinuteModulo: 30,
      catchUpMin: 4,
      catchUpMs: 30 * second,
      durable: true,
    }
    expect(await values()).toEqual(standard)
    expect(await settings.set('recurringFraction', '0.25')).toMatchObject({ value: 0.25, was: 0.1, version: 1 })
    ward().clock.advance(second)
    expect(await settings.set('durable', 'off')).toMatchObject({ value: false, version: 2, changed: true })
    expect(await settings.set('durable', 'off')).toMatchObject({ version: 2, changed: false })
    expect(await settings.set('recurringCapMs', '20m')).toMatchObject({ value: 20 * minute, version: 3 })
    expect(await values()).toEqual({
      ...standard,
      recurringFraction: 0.25,
      durable: false,
      recurringCapMs: 20 * minute,
    })
    const origins = (await settings.list({ origin: true })).map(({ name, origin }) => [name, origin?.version ?? null])
    expect(Object.fromEntries(origins)).toMatchObject({
      recurringFraction: 1,
      durable: 2,
      recurringCapMs: 3,
      catchUpMin: null,
    })
    expect(await settings.reset('recurringFraction')).toMatchObject({
      value: 0.1,
      was: 0.25,
      version: 4,
      changed: true,
    })
    expect(await settings.reset('recurringFraction')).toMatchObject({ version: 4, changed: false })
    expect((await audit('recurringFraction')).map(({ verb, detail }) => [verb, detail])).toEqual([
      ['setting.reset', { version: 4, from: 0.25, to: null }],
      ['setting.set', { version: 1, from: null, to: 0.25 }],
    ])
  })

  it.each([
    ['recurringFraction', '0.51', 'a number from 0 to 0.5'],
    ['recurringFraction', '-0.1', 'a number from 0 to 0.5'],
    ['recurringFraction', '', 'a number from 0 to 0.5'],
    ['recurringCapMs', '61m', 'ms, or a duration such as 30s, from 0 to 1h'],
    ['recurringCapMs', '1.5', 'ms, or a duration such as 30s, from 0 to 1h'],
    ['oneShotMaxMs', '11m', 'ms, or a duration such as 30s, from 0 to 10m'],
    ['oneShotMinuteModulo', '0', 'an integer from 1 to 60'],
    ['catchUpMin', '0', 'an integer from 1 to 1000000'],
    ['catchUpMs', 'soon', 'ms, or a duration such as 30s, from 0 to 1h'],
    ['durable', 'maybe', 'on or off'],
  ])('%s is not %o', async (name, value, expected) => {
    expect(await problemsIn(settings.set(name, value))).toMatchObject([{ field: 'value', expected }])
    expect((await settings.list({ origin: true })).every(({ origin }) => origin === null)).toBe(true)
  })

  it('that do not exist are refused, with the one that was meant', async () => {
    expect(await errorOf(settings.set('catchupMin', '3'))).toMatchObject({
      code: 'not-found',
      hint: 'Did you mean catchUpMin?',
    })
    expect((await errorOf(settings.reset('colour'))).code).toBe('not-found')
  })

  /** A recurring schedule that follows the settings. */
  async function follower() {
    const spec = {
      name: 'digest',
      timing: { cron: '0 * * * *', zone: 'UTC' },
      spread: 'settings',
      target: { handler: 'report' },
      overlap: 'allow',
    } as const
    const { schedule } = await ward().store.do(putSchedule, spec, { mode: 'create', actor })
    const offset = (recurringFraction: number) => {
      const config = { recurringFraction, recurringCapMs: hour, oneShotMaxMs: 0, oneShotMinuteModulo: 30 }
      return spread({ id: schedule.id, kind: 'recurring', plannedAt: startAt, intervalMs: hour, config })
    }
    return { offset, due: async () => (await schedules.get('digest')).nextDueAt }
  }

  it('move only what is planned after they were set, and explain names the version behind each instant', async () => {
    const { offset, due } = await follower()
    const first = startAt + hour + offset(0.1)
    expect(await due()).toBe(first)
    await settings.set('recurringFraction', '0.2')
    expect(await due()).toBe(first)
    expect(await schedules.explain('digest')).toMatchObject({
      spread: { offsetMs: offset(0.1), why: expect.stringContaining('by version 0 of the settings') },
      rederived: { answer: 'same' },
    })
    ward().clock.set(first)
    const { runs: fired } = await ward().store.fireDue({ limit: 10 })
    expect(await runs.get(fired[0]?.id ?? '')).toMatchObject({ dueAt: first, decision: { spread: { version: 0 } } })
    expect(await runs.explain(fired[0]?.id ?? '')).toMatchObject({
      planned: { rederived: { answer: 'same' } },
      timeline: expect.arrayContaining([
        expect.objectContaining({ what: 'nominal', detail: 'moved by its spread, of version 0 of the settings' }),
      ]),
    })
    expect(await due()).toBe(startAt + 2 * hour + offset(0.2))
    expect(await schedules.explain('digest')).toMatchObject({
      spread: { offsetMs: offset(0.2), why: expect.stringContaining('by version 1 of the settings') },
      rederived: { answer: 'same' },
    })
    expect((await schedules.next('digest', { count: 2 })).map(({ dueAt }) => dueAt)).toEqual([
      startAt + 2 * hour + offset(0.2),
      startAt + 3 * hour + offset(0.2),
    ])
  })

  it('are no matter of a schedule with a spread of its own, or none', async () => {
    const timing = { cron: '0 * * * *', zone: 'UTC' } as const
    const own = { recurringFraction: 0.1, recurringCapMs: hour, oneShotMaxMs: 0, oneShotMinuteModulo: 30 }
    await ward().store.do(putSchedule, { name: 'own', timing, spread: own }, { mode: 'create', actor })
    await ward().store.do(putSchedule, { name: 'none', timing }, { mode: 'create', actor })
    const before = await schedules.get('own')
    await settings.set('recurringFraction', '0.5')
    ward().clock.advance(2 * hour - second)
    await ward().store.fireDue({ limit: 10 })
    const after = await schedules.get('own')
    expect((after.nextDueAt ?? 0) - (after.nextRunAt ?? 0)).toBe((before.nextDueAt ?? 0) - (before.nextRunAt ?? 0))
    expect(await schedules.get('none')).toMatchObject({ nextDueAt: startAt + 2 * hour, nextRunAt: startAt + 2 * hour })
  })

  it('say from how many missed occurrences on catching up is spread, and over how long', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) {
      await schedules.create({ name, cron: '0 * * * *', zone: 'UTC', target: null })
    }
    const waits = async () => {
      ward().clock.advance(24 * hour + 30 * minute)
      const now = ward().clock.now()
      const { runs: fired } = await ward().store.fireDue({ limit: 10 })
      expect(fired).toHaveLength(names.length)
      const made = await Promise.all(fired.map(({ id }) => runs.get(id)))
      await ward().work()
      ward().clock.advance(10 * minute)
      await ward().work()
      return made.map(({ notBefore }) => (notBefore ?? now) - now)
    }
    expect(Math.max(...(await waits()))).toBeGreaterThan(0)
    await settings.set('catchUpMin', '6')
    expect(await waits()).toEqual([0, 0, 0, 0, 0])
    await settings.set('catchUpMin', '2')
    await settings.set('catchUpMs', '9m')
    const longest = Math.max(...(await waits()))
    expect(longest).toBeGreaterThan(30 * second)
    expect(longest).toBeLessThanOrEqual(9 * minute)
    await settings.set('catchUpMs', '0')
    expect(await waits()).toEqual([0, 0, 0, 0, 0])
  })
})
