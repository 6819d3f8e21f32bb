import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../src/operations/input/refuse-input.ts'
import { Terminal } from './cli/terminal.ts'
import { onPorch } from './http/porch.ts'

const porch = onPorch()
const terminal = new Terminal()
afterAll(() => terminal.remove())

async function problemsOf(
  path: string,
  asked: Parameters<ReturnType<typeof porch>['ask']>[1] = {},
): Promise<Problem[]> {
  const response = await porch().ask(path, asked)
  const { code, details } = (await response.json()) as { code: string; details: { problems?: Problem[] } }
  expect(code).toBe('invalid')
  return details.problems ?? []
}

const fieldsIn = (problems: readonly Problem[]) => problems.map(({ field }) => field).sort()

describe('what is wrong with a request is told with everything else that is wrong with it', () => {
  it('a list of fields has each name once, also where a duration has two fields', async () => {
    const body = { name: 'x', every: '1h', target: { handler: 'h' }, frobnicate: 1 }
    const [{ expected } = { expected: '' }] = await problemsOf('/api/schedules', { body })
    const names = expected.replace(/^one of /, '').split(', ')
    expect(names).toContain('every')
    expect(names).toEqual([...new Set(names)])
  })

  it('a cursor that cannot be read', async () => {
    expect(fieldsIn(await problemsOf('/api/runs?limit=1&before=x&status=zz'))).toEqual(['before', 'status'])
    expect(fieldsIn(await problemsOf('/api/runs?limit=0&before=xx'))).toEqual(['before', 'limit'])
    expect(fieldsIn(await problemsOf('/api/runs?before=zz'))).toEqual(['before'])
    expect(fieldsIn(await problemsOf('/api/store/notices?before=zz&limit=0'))).toEqual(['before', 'limit'])
  })

  it('a hint `for` a while is told that it means ttl', async () => {
    const body = { every: '5m', for: '30s', reason: 'r' }
    expect(await problemsOf('/api/schedules/x/hint', { body })).toMatchObject([
      { field: 'for', expected: 'ttl, if that was meant' },
    ])
    const typed = ['schedule', 'hint', 'x', '--every', '5m', '--for', '30s', '--reason', 'r']
    expect((await terminal.belfry(typed)).stderr).toContain('--ttl')
  })

  it('a cursor of another list', async () => {
    expect(fieldsIn(await problemsOf('/api/runs?status=failed&before=made/1/r-15'))).toEqual(['before'])
  })

  it('two fields of which only one may be given, although one of them cannot be read', async () => {
    const pause = { for: '1x', until: '2027-01-01T00:00Z', reason: 5 }
    const paused = await problemsOf('/api/schedules/x/pause', { body: pause })
    expect(fieldsIn(paused)).toEqual(['for', 'reason', 'until'])
    const hint = { every: '5m', ttl: '1x', expiresAt: '2027-01-01T00:00Z', reason: 'r' }
    const hinted = await problemsOf('/api/schedules/x/hint', { body: hint })
    expect(hinted.map(({ problem }) => problem)).toContain('is given beside `expiresAt`')
  })

  it('a duration in both its fields, although one of them cannot be read', async () => {
    const schedule = { name: 'x', everyMs: 'soon', every: '1h', timeout: 'abc', timeoutMs: 5, target: { handler: 'h' } }
    const backoff = { base: 'x', baseMs: 3 }
    const told = (found: Problem[]) => found.map(({ field, problem }) => `${field} ${problem}`)
    const created = told(await problemsOf('/api/schedules', { body: { ...schedule, backoff } }))
    for (const name of ['every', 'timeout']) expect(created).toContain(`${name} is given beside \`${name}Ms\``)
    expect(created).toContain('backoff.base is given beside `baseMs`')
    expect(created).toHaveLength(6)
    const queue = { retention: { completed: 'x', completedMs: 4 }, leaseTtl: 'x', leaseTtlMs: 4 }
    const set = told(await problemsOf('/api/queues/default', { method: 'PUT', body: queue }))
    expect(set).toContain('leaseTtl is given beside `leaseTtlMs`')
    expect(set).toContain('retention.completed is given beside `completedMs`')
    expect(set).toHaveLength(4)
  })

  it('a duration in both its fields on the command line, where they have one flag', async () => {
    const file = terminal.write('twice.json', JSON.stringify({ everyMs: 5, target: { handler: 'h' } }))
    const flagged = await terminal.belfry(`schedule create x --file ${file} --every abc`)
    expect(flagged.stderr).toMatch(/--every +has no number here[\s\S]*--every +is given beside everyMs\n/)
    const both = terminal.write('both.json', JSON.stringify({ every: '1h', everyMs: 5, target: { handler: 'h' } }))
    expect((await terminal.belfry(`schedule create x --file ${both}`)).stderr).toMatch(
      / every +is given beside everyMs\n/,
    )
  })

  it('a target of two kinds, each of which is wrong', async () => {
    const target = { http: { url: 'ftp://x', method: 'get' }, command: '' }
    const found = await problemsOf('/api/runs', { body: { target } })
    expect(fieldsIn(found)).toEqual(['target', 'target.command', 'target.http.method', 'target.http.url'])
  })

  it('a header that says neither true nor false, and one that asks for what cannot be rehearsed', async () => {
    const body = { name: 'x', every: '1', target: { handler: 'h' } }
    const found = await problemsOf('/api/schedules', { body, headers: { 'belfry-dry-run': 'maybe' } })
    expect(fieldsIn(found)).toEqual(['Belfry-Dry-Run', 'every'])
    const pause = { body: { for: 'x' }, headers: { 'belfry-dry-run': 'true' } }
    expect(fieldsIn(await problemsOf('/api/schedules/x/pause', pause))).toEqual(['Belfry-Dry-Run', 'for'])
  })

  it('a relative program that is not there, however the target is written', async () => {
    const target = JSON.stringify({ command: ['./nope.sh'] })
    const flags = ['schedule', 'create', 'q', '--every', '5', '--target', target]
    const file = terminal.write('q.json', JSON.stringify({ every: '5', target: { command: ['./nope.sh'] } }))
    for (const typed of [flags, ['schedule', 'create', 'q', '--file', file]]) {
      const { exit, stderr } = await terminal.belfry(typed)
      expect(exit).toBe(2)
      expect(stderr).toMatch(/target.command\[0\] +names "\.\/nope\.sh", which does not exist/)
      expect(stderr).toMatch(/every +is "5"|every +/)
    }
  })

  it('a folder in the place of belfry.yaml, and a file in the place of .belfry', async () => {
    const other = new Terminal()
    try {
      mkdirSync(join(other.folder, 'belfry.yaml'))
      const applied = await other.belfry('apply')
      expect(applied.exit).toBe(2)
      expect(applied.stderr).toContain('is a folder')
      other.write('.belfry', '')
      for (const command of ['schedule create q --every 5m --handler h', 'schedule list', 'up --once']) {
        const { exit, stderr } = await other.belfry(command)
        expect(exit).toBe(2)
        expect(stderr).toContain('.belfry is not a folder')
      }
    } finally {
      other.remove()
    }
  })

  it('a schema and a namespace that no store can have', async () => {
    const place = ['--store', 'postgres://nobody@127.0.0.1:1/x', '--schema', 'bad schema!', '--namespace', '']
    const { exit, stderr } = await terminal.belfry(['worker', 'list', ...place])
    expect(exit).toBe(2)
    expect(stderr).toContain('--schema ')
    expect(stderr).toContain('--namespace ')
  })
})
