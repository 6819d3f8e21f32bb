import { describe, expect, it } from 'vitest'
import { dueInside } from '../../src/core/schedule/calendar-bound.ts'
import { spreadDueAt } from '../../src/core/schedule/due.ts'
import { type GovernorInput, type NextRun, nextRun } from '../../src/core/schedule/governor.ts'
import { promptSpread } from '../../src/core/timing/spread.ts'
import { expectMatch, vectors } from '../vectors.ts'

const minute = 60_000
const hour = 60 * minute
const office = { calendar: { zone: 'UTC', open: ['mon-fri 08:00-18:00'] }, isInverted: false }
const night = { calendar: { zone: 'UTC', open: ['mon-sun 22:00-06:00'] }, isInverted: true }
const monday = Date.UTC(2026, 10, 16)

describe('the governor under calendars', () => {
  it('answers every vector', () => {
    for (const [index, vector] of vectors<GovernorInput, NextRun>('governor-calendar').entries()) {
      expectMatch(nextRun(vector.in), vector.out, `governor-calendar[${index}]`)
    }
  })

  it('says by which rule, and from which instant', () => {
    const now = monday + 19 * hour
    const { trail } = nextRun({ now, schedule: { timing: { everyMs: hour }, calendars: [office] }, state: {} })
    const rule = { rule: 'calendar', from: now + hour, at: monday + 32 * hour, effect: 'moved' }
    expect(trail.at(-1)).toMatchObject(rule)
  })
})

describe('a spread into a closing', () => {
  it('wraps around within the opening: what is planned for open hours is due in them', () => {
    const at = monday + 17 * hour + 55 * minute
    expect(dueInside(at, at + 3 * minute, { calendars: [office] })).toBe(at + 3 * minute)
    expect(dueInside(at, at + 5 * minute, { calendars: [office] })).toBe(at)
    expect(dueInside(at, at + 12 * minute, { calendars: [office] })).toBe(at + 2 * minute)
    expect(dueInside(at, at + 12 * minute, {})).toBe(at + 12 * minute)
  })

  it('of a one-shot goes later where earlier is closed', () => {
    const opening = monday + 8 * hour
    expect(dueInside(opening, opening - 40_000, { calendars: [office] })).toBe(opening + 40_000)
    expect(dueInside(opening + hour, opening + hour - 40_000, { calendars: [office] })).toBe(opening + hour - 40_000)
  })

  it('counts under an intersection and under an inverted calendar', () => {
    const at = monday + 21 * hour + 50 * minute
    expect(dueInside(at, at + 11 * minute, { calendars: [night] })).toBe(at + minute)
    const early = monday + 17 * hour + 50 * minute
    expect(dueInside(early, early + 15 * minute, { calendars: [night, office] })).toBe(early + 5 * minute)
  })

  it('keeps every prompt of a day in its opening', () => {
    const calendars = [office]
    const timing = { cron: '55 17 * * *', zone: 'UTC' }
    for (let id = 0; id < 200; id++) {
      const plannedAt = monday + 17 * hour + 55 * minute
      const due = spreadDueAt(plannedAt, { id: `s-${id}`, timing, spread: promptSpread, calendars })
      expect(due).toBeGreaterThanOrEqual(plannedAt)
      expect(due).toBeLessThan(monday + 18 * hour)
    }
  })
})
