import { describe, expect, it } from 'vitest'
import type { AnswerRules, EndFacts } from '../../src/core/run/expect.ts'
import { guardAnswer } from '../../src/core/run/guard.ts'

const exit = (exitCode: number | null, text = ''): EndFacts => ({ exitCode, signal: null, text })
const status = (code: number | null, json?: unknown): EndFacts => ({ status: code, json, text: JSON.stringify(json) })

describe('a guard', () => {
  it.each<[string, EndFacts, AnswerRules | undefined, string]>([
    ['yes', exit(0), undefined, 'exit code 0'],
    ['no', exit(1), undefined, 'exit code 1'],
    ['failed', exit(2), undefined, 'exit code 2'],
    ['failed', exit(127), undefined, 'exit code 127'],
    ['failed', exit(null), undefined, 'ended without an exit code'],
    ['failed', { exitCode: null, signal: 'SIGKILL' }, undefined, 'ended by SIGKILL'],
    ['failed', { error: 'timeout after 10s' }, undefined, 'timeout after 10s'],
    ['yes', status(204), undefined, 'status 204'],
    ['no', status(404), undefined, 'status 404'],
    ['no', status(302), undefined, 'status 302'],
    ['failed', status(408), undefined, 'status 408'],
    ['failed', status(429), undefined, 'status 429'],
    ['failed', status(500), undefined, 'status 500'],
    ['failed', status(503), undefined, 'status 503'],
    ['failed', status(null), undefined, 'ended without a status'],
    ['yes', { json: true }, undefined, 'it answered true'],
    ['no', { json: false }, undefined, 'it answered false'],
    ['failed', { json: 0 }, undefined, 'it answered 0, and its answer is neither true nor false'],
    ['failed', {}, undefined, 'it answered nothing, and its answer is neither true nor false'],
  ])('says %s to %j', (says, facts, expected, why) => {
    expect(guardAnswer({ facts, expect: expected })).toEqual({ says, why })
  })

  it.each<[string, EndFacts, AnswerRules]>([
    ['yes', exit(3), { exitCodes: [3] }],
    ['no', exit(0), { exitCodes: [3] }],
    ['no', exit(1), { exitCodes: [3] }],
    ['failed', exit(4), { exitCodes: [3] }],
    ['yes', exit(0, 'ready'), { textIncludes: 'ready' }],
    ['no', exit(0, 'busy'), { textIncludes: 'ready' }],
    ['failed', exit(2, 'ready'), { textIncludes: 'ready' }],
    ['yes', status(200, { open: true }), { json: { open: true } }],
    ['no', status(200, { open: false }), { json: { open: true } }],
    ['yes', status(503), { statuses: [503] }],
    ['failed', status(500), { statuses: [503] }],
    ['yes', { json: { rows: 3 } }, { json: { rows: 3 } }],
    ['no', { json: { rows: 0 } }, { json: { rows: 3 } }],
    ['failed', { error: 'it threw' }, { json: { rows: 3 } }],
  ])('says %s to %j where it expects %j', (says, facts, expected) => {
    expect(guardAnswer({ facts, expect: expected }).says).toBe(says)
  })
})
