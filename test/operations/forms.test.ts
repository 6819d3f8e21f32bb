import { describe, expect, it } from 'vitest'
import { expectationProblems } from '../../src/core/run/expect.ts'
import { kinds } from '../../src/kinds.ts'
import { expectationForm } from '../../src/operations/target/expectation-form.ts'
import { targetForm } from '../../src/operations/target/target-form.ts'
import { targetOf } from '../../src/operations/target/target-input.ts'

const folder = '/srv/app'

/** The form is for those who read schemas; what they are shown must be what is really taken. */
describe('the form of a target', () => {
  const url = 'https://example.org/a'
  const secret = { secret: 'HOOK' }

  it.each([
    { handler: 'report' },
    { command: 'echo hello | wc' },
    { command: ['./run', '--token', secret], cwd: 'jobs', env: { A: 'b', B: secret } },
    { http: { url } },
    { http: { url, method: 'PUT', headers: { a: 'b', authorization: secret }, body: { c: [1, secret] } } },
    { http: { url, body: 'text' } },
  ])('has what is taken: %j', (target) => {
    expect(targetOf(target, { folder, kinds }).problems).toEqual([])
    expect(targetForm(kinds).safeParse(target).error).toBeUndefined()
  })

  it.each([
    {},
    'report',
    [],
    { handler: '' },
    { handler: 5 },
    { handler: 'a', cwd: '/b' },
    { handler: 'a', command: 'b' },
    { command: [] },
    { command: '' },
    { command: 5 },
    { command: ['a', 5] },
    { command: [secret] },
    { command: 'a', cwd: 5 },
    { command: 'a', env: ['b'] },
    { command: 'a', shell: true },
    { http: url },
    { http: {} },
    { http: { url: 5 } },
    { http: { url, method: 5 } },
    { http: { url, headers: { a: 5 } } },
    { http: { url, query: {} } },
    { http: { url }, handler: 'a' },
    { agent: {} },
  ])('has nothing that is refused: %j', (target) => {
    expect(targetOf(target, { folder, kinds }).problems).not.toEqual([])
    expect(targetForm(kinds).safeParse(target).success).toBe(false)
  })
})

describe('the form of an expectation', () => {
  it.each([
    {},
    { statuses: [200, '2xx'] },
    { exitCodes: [0, 255] },
    { textIncludes: 'done', textMatches: '^do' },
    { json: { 'items[0].id': 7, status: null } },
  ])('has what is taken: %j', (expectation) => {
    expect(expectationProblems(expectation)).toEqual([])
    expect(expectationForm.safeParse(expectation).error).toBeUndefined()
  })

  it.each([
    5,
    [],
    { statuses: [] },
    { statuses: [99] },
    { statuses: [600] },
    { statuses: ['6xx'] },
    { statuses: 200 },
    { exitCodes: [256] },
    { exitCodes: [] },
    { textIncludes: '' },
    { textMatches: 5 },
    { json: [] },
    { status: 200 },
  ])('has nothing that is refused: %j', (expectation) => {
    expect(expectationProblems(expectation)).not.toEqual([])
    expect(expectationForm.safeParse(expectation).success).toBe(false)
  })
})
