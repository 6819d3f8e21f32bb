import { describe, expect, it } from 'vitest'
import { httpTargetProblems } from '../../../src/targets/http/http-target.ts'

const url = 'https://example.org/hook'

describe('an HTTP target at the door', () => {
  it.each<[unknown]>([
    [{ url }],
    [{ url: 'http://127.0.0.1:8080/?a=b', method: 'PROPFIND' }],
    [{ url: 'http://[::1]/ü' }],
    [{ url, headers: { Authorization: { secret: 'TOKEN' }, 'x-empty': '', 'Idempotency-Key': 'mine' } }],
    [{ url, headers: { 'x-latin': 'caf\u00e9' }, body: '' }],
    [{ url, body: { deep: [{ secret: 'TOKEN' }, { secret: 'TOKEN', more: 1 }, { secret: 5, more: 1 }] } }],
    [{ url, body: null }],
    [{ url, method: undefined, headers: undefined, body: undefined }],
  ])('is sound: %j', (http) => expect(httpTargetProblems({ http })).toEqual([]))

  it.each<[string, unknown, RegExp]>([
    ['http', undefined, /is missing/],
    ['http', url, /is the string/],
    ['http', [], /is a list/],
    ['http', { secret: 'A' }, /is a secret/],
    ['http.timeout', { url, timeout: 5 }, /is not known/],
    ['http.url', {}, /is missing/],
    ['http.url', { url: 5 }, /is the number 5/],
    ['http.url', { url: '/path' }, /cannot be read/],
    ['http.url', { url: 'example.org' }, /cannot be read/],
    ['http.url', { url: 'ftp://example.org/' }, /only http: and https:/],
    ['http.url', { url: 'http://user@example.org/' }, /credentials/],
    ['http.url', { url: 'http://exa\nmple.org/' }, /control character/],
    ['http.url', { url: ' http://example.org/' }, /space/],
    ['http.url', { url: 'http:\\\\example.org' }, /backslash/],
    ['http.url', { url: 'http://[fe80::1%25eth0]/' }, /cannot be read/],
    ['http.url', { url: `${url}#part` }, /never sent/],
    ['http.url', { url: `${url}?${'a'.repeat(8_000)}` }, /characters/],
    ['http.url', { url: `${url}?\uD83D` }, /./],
    ['http.method', { url, method: 'get' }, /"get"/],
    ['http.method', { url, method: 'GET /other HTTP/1.1\r\nA: b' }, /is "GET/],
    ['http.method', { url, method: 'CONNECT' }, /CONNECT/],
    ['http.method', { url, method: 'TRACE' }, /TRACE/],
    ['http.method', { url, method: '' }, /""/],
    ['http.method', { url, method: 1 }, /number/],
    ['http.headers', { url, headers: [['a', 'b']] }, /a list/],
    ['http.headers', { url, headers: { secret: 'A' } }, /a secret/],
    ['http.headers["a b"]', { url, headers: { 'a b': 'c' } }, /not the name/],
    ['http.headers[""]', { url, headers: { '': 'c' } }, /not the name/],
    ['http.headers["x"]', { url, headers: { x: 'a\r\nb: c' } }, /no header can hold/],
    ['http.headers["x"]', { url, headers: { x: 'a\0' } }, /no header can hold/],
    ['http.headers["x"]', { url, headers: { x: '😀' } }, /no header can hold/],
    ['http.headers["x"]', { url, headers: { x: ' a' } }, /spaces around/],
    ['http.headers["x"]', { url, headers: { x: 'a'.repeat(8_001) } }, /characters/],
    ['http.headers["x"]', { url, headers: { x: 5 } }, /number/],
    ['http.headers["x"]', { url, headers: { x: ['a'] } }, /a list/],
    ['http.headers["x"].secret', { url, headers: { x: { secret: '../etc' } } }, /not the name of a secret/],
    ['http.headers["X-A"]', { url, headers: { 'x-a': '1', 'X-A': '2' } }, /twice/],
    ['http.headers', { url, headers: Object.fromEntries([...Array(101).keys()].map((n) => [`x${n}`, ''])) }, /has 101/],
    ['http.body.at', { url, body: { at: Number.NaN } }, /NaN/],
    ['http.body', { url, body: '\uD83D' }, /surrogate/],
    ['http.body["a"][1].secret', { url, body: { a: [0, { secret: 5 }] } }, /not the name of a secret/],
    ['http.body.secret', { url, body: { secret: 'a b' } }, /not the name of a secret/],
  ])('is refused at %s', (field, http, problem) => {
    expect(httpTargetProblems({ http })).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(/./) },
    ])
  })

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'CONNECTION',
    'keep-alive',
    'Upgrade',
    'te',
    'trailer',
    'expect',
  ])('cannot set %s, which belongs to the connection', (name) =>
    expect(httpTargetProblems({ http: { url, headers: { [name]: 'x' } } })).toHaveLength(1),
  )

  it.each(['Belfry-Run', 'belfry-attempt', 'BELFRY-anything', 'traceparent'])('cannot set %s, which is ours', (name) =>
    expect(httpTargetProblems({ http: { url, headers: { [name]: 'x' } } })).toEqual([
      { field: `http.headers["${name}"]`, problem: 'is set by Belfry', expected: expect.any(String) },
    ]),
  )

  it('with fields beside http is refused, and everything wrong is told at once', () => {
    const problems = httpTargetProblems({ http: { url: 5, method: 5, headers: 5, more: 5 }, cwd: '/' })
    expect(problems.map(({ field }) => field)).toEqual(['cwd', 'http.more', 'http.url', 'http.method', 'http.headers'])
  })

  it('shows no secret that was written where its name belongs', () => {
    const problems = httpTargetProblems({
      http: { url, headers: { a: { secret: 'p4ss w0rd' } }, body: { secret: 'p4ss w0rd' } },
    })
    expect(problems).toHaveLength(2)
    expect(JSON.stringify(problems)).not.toContain('p4ss')
  })
})
