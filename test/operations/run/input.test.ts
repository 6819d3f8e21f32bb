import { describe, expect, it } from 'vitest'
import { kinds } from '../../../src/kinds.ts'
import { read } from '../../../src/operations/input/read-input.ts'
import { type RunInput, readRun, runInput } from '../../../src/operations/run/run-input.ts'

const folder = '/srv/app'

function reading(input: unknown) {
  return readRun(read(runInput, input, 'a run'), { folder, kinds })
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('a run input', () => {
  it('without a target is refused, so that forgetting it does not quietly make work for outside hosts', () => {
    const problem = {
      field: 'target',
      problem: 'is missing',
      expected: 'an object, such as {"handler":"report"}; null for work that outside hosts lease',
    }
    expect(reading({}).problems).toEqual([problem])
    expect(reading({ target: undefined, payload: 1 }).problems).toEqual([problem])
    expect(reading({ target: null }).problems).toEqual([])
  })

  it('with every field becomes the run that is stored', () => {
    const input: RunInput = {
      queue: 'reports',
      target: { http: { url: 'https://example.org/hook', headers: { authorization: { secret: 'HOOK' } } } },
      payload: { day: 'today' },
      priority: 7,
      notBefore: '2026-12-01T09:00+01:00',
      deadline: new Date(Date.UTC(2026, 11, 2)),
      concurrencyKey: 'customer 1',
      idempotencyKey: 'r-1',
      dedupeKey: 'd-1',
      timeout: '30s',
      repeatable: false,
      expect: { statuses: ['2xx', 404] },
      tags: ['a'],
      traceparent,
    }
    expect(reading(input)).toEqual({
      run: {
        queue: 'reports',
        target: input.target,
        payload: { day: 'today' },
        priority: 7,
        notBefore: Date.UTC(2026, 11, 1, 8),
        deadline: Date.UTC(2026, 11, 2),
        concurrencyKey: 'customer 1',
        idempotencyKey: 'r-1',
        dedupeKey: 'd-1',
        repeatable: false,
        options: { timeoutMs: 30_000, expect: { statuses: ['2xx', 404] }, tags: ['a'], traceparent },
      },
      problems: [],
    })
  })

  it('may say nothing but that it has no target', () => {
    expect(reading({ target: null })).toEqual({ run: { target: null }, problems: [] })
  })

  it.each([
    ['a bare number for a duration', { timeout: 30 }, 'timeout', /is 30/, /with its unit/],
    ['an unknown field', { notbefor: 1 }, 'notbefor', /is not a field of a run/, /notBefore, if/],
    ['the fields of a schedule', { cron: '@daily' }, 'cron', /is not a field of a run/, /one of/],
    [
      'a deadline before its beginning',
      { notBefore: '2026-12-01T09:00Z', deadline: '2026-12-01T08:00Z' },
      'deadline',
      /T08/,
      /after `notBefore`, which is 2026-12-01T09/,
    ],
    ['a trace that is none', { traceparent: '00-1' }, 'traceparent', /its parts/, /W3C traceparent/],
    ['a payload that JSON would change', { payload: { list: [new Map()] } }, 'payload.list[0]', /Map/, /plain data/],
    [
      'a priority out of range',
      { priority: 1_000_001 },
      'priority',
      /is 1000001/,
      /an integer from -1000000 to 1000000/,
    ],
    ['an empty key', { idempotencyKey: '' }, 'idempotencyKey', /is empty/, /a text of 1 to 500 characters/],
    [
      'a key too long',
      { dedupeKey: 'x'.repeat(501) },
      'dedupeKey',
      /has 501 characters/,
      /a text of 1 to 500 characters/,
    ],
    ['null for nothing', { queue: null }, 'queue', /is null/, /a text/],
  ])('%s is refused', (_, input, field, problem, expected) => {
    expect(reading({ target: null, ...input }).problems).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(expected) },
    ])
  })
})
