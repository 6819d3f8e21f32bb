import { describe, expect, it } from 'vitest'
import type { Schedule } from '../../../src/operations/schedule/schedule-answer.ts'
import { nextOf } from '../../../src/operations/schedule/show.ts'
import { groupOf, groupWindow, siblingsOf } from '../../../src/store/groups/group-row.ts'
import { turnHolds } from '../../../src/store/holds/turn-holds.ts'
import { errorOf, problemsIn, verbsAt } from '../../operations/desk.ts'
import { hour, inEachWard, minute } from '../../operations/store/ward.ts'

const target = { handler: 'report' }

inEachWard((ward) => {
  const { groups, schedules, config, holds } = verbsAt(() => ward().context)
  const turned = async () => {
    while ((await ward().store.do(turnHolds, { limit: 100 })).more);
  }
  const started = async () => {
    await turned()
    await ward().store.fireDue({ limit: 10 })
    const leases = await ward().lease()
    for (const { runId, fence } of leases) {
      await ward().store.settle([{ runId, fence, outcome: { kind: 'success' } }])
    }
    const all = await schedules.list({})
    return leases.map(({ scheduleId }) => all.find(({ id }) => id === scheduleId)?.name).sort()
  }

  describe('a group', () => {
    it('is created once, changed field by field, listed with its members, and deleted when it has none', async () => {
      const description = 'Flash sales: protect the database first.'
      expect(await groups.create('checkout', { description })).toMatchObject({
        answer: 'created',
        group: { name: 'checkout', description, autonomy: null, window: null, members: 0, paused: null },
      })
      expect(await groups.create('checkout', { description })).toMatchObject({ answer: 'unchanged' })
      expect(await errorOf(groups.create('checkout'))).toMatchObject({ code: 'conflict' })
      expect(await groups.update('checkout', { autonomy: 'suggest', window: '* 8-19 * * 1-5' })).toMatchObject({
        answer: 'updated',
        group: { description, autonomy: 'suggest', window: '* 8-19 * * 1-5' },
      })
      await schedules.create({ name: 'depth', every: '5m', target, group: 'checkout' })
      await schedules.create({ name: 'orders', every: '5m', target, group: 'checkout' })
      expect(await groups.get('checkout')).toMatchObject({ members: 2, schedules: ['depth', 'orders'] })
      const { store } = ward()
      const depth = { name: 'depth', group: 'checkout' }
      expect((await store.look(siblingsOf, depth)).map(({ spec }) => spec.name)).toEqual(['orders'])
      expect((await store.look(groupOf, depth))?.spec.autonomy).toBe('suggest')
      expect(await store.look(groupWindow, depth)).toBe('* 8-19 * * 1-5')
      expect(await store.look(siblingsOf, { name: 'depth' })).toEqual([])

      expect(await errorOf(groups.delete('checkout'))).toMatchObject({
        code: 'conflict',
        message: 'Group "checkout" has 2 members: depth, orders.',
      })
      await schedules.update('depth', { group: null })
      await schedules.delete('orders')
      expect(await groups.list({})).toMatchObject([{ name: 'checkout', members: 0 }])
      expect(await groups.delete('checkout')).toEqual({ name: 'checkout', deleted: true })
      expect(await errorOf(groups.get('checkout'))).toMatchObject({ code: 'not-found' })
    })

    it('refuses what is wrong, whole and with what would be right', async () => {
      const wrong = { description: 'x'.repeat(10_001), autonomy: 'always', window: '* 25 * * *', min: '5m' }
      const found = await problemsIn(groups.create('belfry:own', wrong as never))
      expect(found.map(({ field }) => field).toSorted()).toEqual(['autonomy', 'description', 'min', 'name', 'window'])
      expect(await problemsIn(groups.create('a', { window: '0 0 30 2 *' }))).toMatchObject([
        { field: 'window', problem: 'does not open within the next 400 days' },
      ])
      expect(await groups.list({})).toEqual([])
      await groups.create('checkout')
      const unknown = schedules.create({ name: 'depth', every: '5m', target, group: 'chekout' })
      expect(await problemsIn(unknown)).toEqual([
        {
          field: 'group',
          problem: 'names the group "chekout", which does not exist',
          expected: 'a known group, such as "checkout"',
        },
      ])
      expect(await problemsIn(schedules.create({ name: 'belfry:looks', every: '5m', target }))).toMatchObject([
        { field: 'name', problem: 'begins with belfry:' },
      ])
      expect(await schedules.list({})).toEqual([])
    })
  })

  describe('pausing a group', () => {
    it('holds each member and later ones, until it is resumed; what a member paused itself stays', async () => {
      await groups.create('checkout')
      for (const name of ['a', 'b']) await schedules.create({ name, every: '5m', target, group: 'checkout' })
      await schedules.create({ name: 'other', every: '5m', target })
      await schedules.pause('b')
      expect(await groups.pause('checkout', { reason: 'The database is moved.' })).toMatchObject({
        members: 2,
        paused: { until: null, reason: 'The database is moved.', by: 'tester' },
      })
      await schedules.create({ name: 'late', every: '5m', target, group: 'checkout' })
      ward().clock.advance(10 * minute)
      expect(await started()).toEqual(['other'])
      const { code, sentence, unblock, waitsFor } = await schedules.explain('a')
      expect({ code, sentence }).toEqual({
        code: 'held',
        sentence: 'Paused by its group checkout: The database is moved. Its runs wait.',
      })
      expect(unblock.map(({ command }) => command)).toContain('belfry group resume checkout')
      const [hold] = await holds.list({})
      for (const filter of [{}, { paused: true }]) {
        const listed = (await schedules.list(filter)).find(({ name }) => name === 'a')
        expect(listed).toMatchObject({ heldBy: hold?.id })
        expect(nextOf(listed as Schedule, { inZone: () => ({}) } as never)).toBe(`after ${hold?.id}`)
      }
      expect(waitsFor?.unblock.map(({ command }) => command)).toContain('belfry group resume checkout')

      expect(await groups.resume('checkout')).toMatchObject({ resumed: true, group: { paused: null } })
      expect(await groups.resume('checkout')).toMatchObject({ resumed: false })
      ward().clock.advance(5 * minute)
      expect(await started()).toEqual(expect.arrayContaining(['a', 'late']))
      ward().clock.advance(hour)
      expect(await started()).not.toContain('b')
      expect(await holds.list({})).toEqual([])
    })

    it('ends by itself, and a schedule that leaves the group or gets a deleted one’s name is free', async () => {
      await groups.create('checkout')
      for (const name of ['a', 'b']) await schedules.create({ name, every: '5m', target, group: 'checkout' })
      await groups.pause('checkout', { for: '1h' })
      await groups.pause('checkout', { for: '2h' })
      expect((await holds.list({})).map(({ on, reason }) => `${on} ${reason}`)).toEqual([
        'schedule:a group-paused',
        'schedule:b group-paused',
      ])
      await schedules.update('a', { group: null })
      await schedules.delete('b')
      await schedules.create({ name: 'b', every: '5m', target })
      expect(await holds.list({})).toEqual([])
      await schedules.update('b', { group: 'checkout' })
      ward().clock.advance(hour)
      expect(await started()).toEqual(['a'])
      ward().clock.advance(hour)
      expect(await started()).toEqual(['a', 'b'])
      expect(await groups.get('checkout')).toMatchObject({ paused: null })
      expect(await problemsIn(groups.pause('checkout', { until: '2020-01-01T00:00Z' }))).toMatchObject([
        { field: 'until' },
      ])
    })
  })

  it('a config file makes groups before its schedules, and deletes them after them', async () => {
    const member = { every: '5m', group: 'shop', target }
    const others = { keep: { every: '1h', target } }
    const kept = { kept: {} }
    const whole = { ...kept, shop: { description: 'Sales.' } }
    const applying = (groupsOf: object, of: object) =>
      config.apply({
        source: 'shop',
        groups: groupsOf as Record<string, unknown>,
        schedules: { ...others, ...of },
      } as never)
    expect(await applying(whole, { depth: member })).toMatchObject({
      groups: [{ name: 'kept' }, { name: 'shop', answer: 'created' }],
    })
    expect(await errorOf(groups.update('shop', { autonomy: 'act' }))).toMatchObject({ code: 'conflict' })
    expect(await errorOf(applying(kept, { depth: member }))).toMatchObject({ code: 'conflict' })
    await applying(kept, {})
    expect((await groups.list({})).map(({ name }) => name)).not.toContain('shop')
  })
})
