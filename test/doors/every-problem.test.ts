import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { Belfry } from '../../src/index.ts'
import type { Problem } from '../../src/operations/input/refuse-input.ts'
import type { AnyOperation } from '../../src/operations/operation.ts'
import { listQueues } from '../../src/store/reads/find-queue.ts'
import { listSchedules } from '../../src/store/reads/find-schedule.ts'
import { operations } from '../../src/table.ts'
import { Desk } from '../operations/desk.ts'
import { doors, tokenFor } from './all-doors.ts'
import { Terminal } from './cli/terminal.ts'

type Fields = Readonly<Record<string, unknown>>

/** A field that is right, and ways in which it is wrong whatever the other fields say. */
type Breakable = readonly [field: string, right: unknown, ...wrong: unknown[]]

const long = 'x'.repeat(1_000)
const shared: readonly Breakable[] = [
  ['queue', 'mail', '', '-x', long, 'a\0b'],
  ['priority', 7, 1.5, 2_000_000, 'high'],
  ['concurrencyKey', 'k', '', long, 7],
  ['timeout', '20m', '10', 'soon', ''],
  ['attempts', 5, 0, -3, 'many', 1.5],
  ['backoff', { base: '5s', cap: '1m' }, { base: 'x' }, { base: '1h', cap: '1m' }, { fator: 2 }, { factor: 0 }, {}, 7],
  ['tags', ['a', 'b'], ['a', 'a'], [''], 'a'],
  ['expect', { statuses: [200] }, { statuses: [] }, { stauses: [200] }, 7],
  ['payload', { day: 'today' }, { text: 'x'.repeat(300_000) }],
  ['repeatable', true, 'yes', 1],
  // Other texts than JSON objects are lines for sh at the command line.
  ['when', { handler: 'open?' }, { htp: {} }, { http: { url: 'nowhere' } }, {}],
  ['target', { http: { url: 'https://example.org/' } }, { htp: {} }, { http: { url: 'nowhere' } }, 7, {}],
]
const schedule: readonly Breakable[] = [
  ...shared,
  ['cron', '0 2 * * *', '0 2 * * 9', 'often', '', '0 0 31 2 *'],
  ['zone', 'Europe/Paris', 'Europe/Pariss', 'CEST', '+01:00'],
  ['maxRuns', 3, -3, 0, 'some', 1.5],
  ['startAt', '2026-02-01T00:00Z', 'tomorrow', '2026-02-30T00:00Z', 7],
  ['endAt', '2030-01-01T00:00Z', 'later', '2001-01-01T00:00Z'],
  ['min', '1m', '5', 'x'],
  ['overlap', 'queue', 'skp', ''],
  ['queueMax', 3, 0, 'x'],
  ['missed', 'once', 'twice'],
  ['maxLateness', '1h', '-1h', 'x'],
  ['pauseAfterFailures', 3, 0, 'x'],
  ['onFailure', { http: { url: 'https://example.org/' } }, { handler: 'h' }, { http: { url: 'x' } }, 7],
  ['until', { handler: 'enough?' }, { handler: 'h', expect: { statuses: [200] } }, { http: { url: 'x' } }],
  ['description', 'nightly', '', 7],
]
const run: readonly Breakable[] = [
  ...shared,
  ['notBefore', '2026-02-01T00:00Z', 'tomorrow', 7],
  ['deadline', '2030-01-01T00:00Z', 'x', 7],
  ['idempotencyKey', 'i', '', long],
  ['dedupeKey', 'd', '', 'a\0b'],
  ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, '00-x', ''],
]
const queue: readonly Breakable[] = [
  ['maxConcurrent', 5, 0, 1.5, 'x'],
  ['maxConcurrentPerKey', 5, 0, 'x'],
  ['maxAttempts', 3, 0, 'x'],
  ['leaseTtl', '5m', '1ms', 'x'],
  ['backoffBase', '1s', 'x', '-1s'],
  ['backoffFactor', 2, 0, 'x'],
  ['backoffSpread', 0.5, 2, 'x'],
  ['rateLimit', { startsMax: 3, per: '1m' }, { startsMax: 0, per: '1m' }, { startsMax: 3, per: 'x' }, { startsMax: 3 }],
  ['retention', { completed: '1d' }, { completed: 'x' }, { complet: '1d' }, { endedRunsMax: -1 }],
  ['onExhausted', 'park', 'stop'],
  ['onPark', { http: { url: 'https://example.org/' } }, { http: {} }],
  ['ifVersion', 0, -1, 'x'],
]

interface Broken {
  readonly input: Record<string, unknown>
  readonly fields: readonly string[]
}

/** A sound input with some of its fields made wrong, and which they are. An unknown field is one more. */
function brokenInputs(known: readonly Breakable[]): fc.Arbitrary<Broken> {
  const picks = known.map(([, , ...wrong]) => fc.option(fc.nat({ max: wrong.length - 1 }), { nil: null, freq: 3 }))
  return fc.tuple(fc.tuple(...picks), fc.boolean()).map(([chosen, isStrange]) => {
    const fields = known.flatMap(([field], index) => (chosen[index] === null ? [] : [field]))
    const values = known.map(([field, right, ...wrong], index) => {
      const pick = chosen[index]
      return [field, pick === null || pick === undefined ? right : wrong[pick]]
    })
    const input = Object.fromEntries(isStrange ? [...values, ['frobnicate', 1]] : values)
    return { input, fields: isStrange ? [...fields, 'frobnicate'] : fields }
  })
}

/** What can be typed: a flag has a text, which may be right where another type would be wrong. */
function typeable(known: readonly Breakable[]): Breakable[] {
  const isSaid = (field: string, right: unknown, wrong: unknown) => {
    if (field === 'target') return JSON.stringify(wrong).includes('nowhere')
    if (field === 'backoff') return JSON.stringify(wrong) !== '{}'
    if (field === 'tags') return JSON.stringify(wrong) === '["a","a"]'
    return typeof right === 'string' ? typeof wrong === 'string' : Array.isArray(right) === Array.isArray(wrong)
  }
  const fields = known.filter(([, right]) => typeof right !== 'boolean')
  return fields.map(([field, right, ...wrong]) => [field, right, ...wrong.filter((one) => isSaid(field, right, one))])
}

function operationOf(noun: string, verb: string): AnyOperation {
  return operations.find((each) => each.noun === noun && each.verb === verb) as AnyOperation
}

/** The field that a problem is about: `--max-runs` and `maxRuns`, `--header X` and `target.http.headers.X` are the same. */
function rootOf({ field }: Problem): string {
  const name = field.replace(/^--/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const [root = ''] = name.split(/[.[ ]/)
  const flags: Readonly<Record<string, string>> = { http: 'target', command: 'target', handler: 'target' }
  return (flags[root] ?? root).replace(/Ms$/, '')
}

function rootsIn(problems: readonly Problem[], within = (field: string) => field): string[] {
  return [...new Set(problems.map((problem) => rootOf({ ...problem, field: within(problem.field) })))].sort()
}

function fieldsOf(thrown: unknown): string[] {
  const { problems = [] } = ((thrown as BelfryError).details ?? {}) as { problems?: Problem[] }
  return problems.map(({ field }) => field)
}

describe('every problem is told at once, at every door: k broken fields are k problems', () => {
  let desk: Desk
  let before: unknown
  const state = async () => [await desk.store.look(listQueues), await desk.store.look(listSchedules, { limit: 10 })]
  beforeAll(async () => {
    desk = await Desk.open()
    desk.token = await tokenFor(desk)
    before = await state()
  })
  afterAll(() => desk.store.close())

  const cases = [
    ['schedule', 'create', schedule, { name: 'nightly' }],
    ['schedule', 'put', schedule, { name: 'nightly' }],
    ['run', 'enqueue', run, {}],
    ['queue', 'set', queue, { name: 'mail' }],
  ] as const
  for (const [noun, verb, known, named] of cases) {
    for (const door of ['library', 'http', 'mcp', 'cli'] as const) {
      it(`${noun} ${verb} through ${door}`, async () => {
        const operation = operationOf(noun, verb)
        const check = async ({ input, fields }: Broken) => {
          if (fields.length === 0) return
          const said = await doors[door](desk, operation, { ...named, ...input })
          const { problems = [] } = ('error' in said ? said.error.details : {}) as { problems?: Problem[] }
          expect(rootsIn(problems), JSON.stringify(said)).toEqual([...fields].sort())
        }
        const inputs = brokenInputs(door === 'cli' ? typeable(known) : known)
        await fc.assert(fc.asyncProperty(inputs, check), { numRuns: 40 })
        expect(await state()).toEqual(before)
      })
    }
  }

  it('a command line of which a part cannot be read is judged all the same, and told with it', async () => {
    const typed = { name: 'z', cron: '0 2 * * 9', zone: 'Europe/Pariss', maxRuns: -3, target: { handler: 'h' } }
    const said = await doors.cli(desk, operationOf('schedule', 'create'), typed)
    const { problems } = ('error' in said ? said.error.details : {}) as { problems: Problem[] }
    expect(rootsIn(problems)).toEqual(['cron', 'maxRuns', 'zone'])
    const terminal = new Terminal()
    const words = ['schedule', 'create', 'z', '--cron', '0 2 * * 9', '--zone', 'Europe/Pariss', '--max-runs', '-3']
    const unread = ['--payload', '{bad', '--header', 'nothing', '--http', 'https://example.org/']
    const { exit, stderr } = await terminal.belfry([...words, ...unread])
    expect(readdirSync(terminal.folder)).toEqual([])
    terminal.remove()
    expect(exit).toBe(2)
    for (const flag of ['--cron', '--max-runs', '--payload', '--header', '--zone'])
      expect(stderr).toContain(`  ${flag} `)
  })

  const clashes = [
    [{ every: '1h', cron: '0 2 * * 9', zone: 'Nope/Zone', at: 'tomorrow' }, ['at', 'cron', 'every', 'zone'], 4],
    [{ every: '1h', cron: '0 * * * 9', zone: 'Europe/Pariss' }, ['cron', 'every', 'zone'], 3],
    [{ every: '1ms', cron: '0 2 * * *', startNow: true }, ['every'], 2],
    [{ cron: 'often', at: '2001-01-01T00:00Z' }, ['at', 'cron'], 3],
    [{ every: 'often', at: '2001-01-01T00:00Z', from: 'end' }, ['at', 'every'], 3],
    [{ everyMs: 60_000, cron: '0 2 * * *' }, ['every'], 1],
  ] as const
  for (const door of ['library', 'http', 'mcp', 'cli'] as const) {
    it(`two timings at once hide nothing else that is wrong, through ${door}`, async () => {
      for (const verb of ['create', 'put']) {
        for (const [timings, fields, count] of clashes) {
          if (door === 'cli' && 'everyMs' in timings) continue
          const input = { name: 'zz', ...timings, target: { handler: 'h' } }
          const said = await doors[door](desk, operationOf('schedule', verb), input)
          const { problems = [] } = ('error' in said ? said.error.details : {}) as { problems?: Problem[] }
          expect(rootsIn(problems), JSON.stringify(said)).toEqual(fields)
          const clash = problems.filter(({ expected }) => expected.startsWith('exactly one of'))
          expect(clash, JSON.stringify(said)).toHaveLength(1)
          expect(problems, JSON.stringify(said)).toHaveLength(count)
        }
      }
      expect(await state()).toEqual(before)
    })
  }

  it('a store that no URL names is told with every other option of Belfry.open that is wrong', async () => {
    const options = { store: 'mysql://ada:s3cret@db/x', zone: 5, leaseMs: 0 }
    const error = await Belfry.open(options as never).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(BelfryError)
    expect(fieldsOf(error).sort()).toEqual(['leaseMs', 'store', 'zone'])
    expect((error as BelfryError).message).not.toContain('s3cret')
    for (const store of ['memory:', 'sqlite:./x.db', 'sqlite:///x.db', 'postgres://x', 'postgresql://x']) {
      const refused = await Belfry.open({ store, zone: 5 } as never).catch((thrown: unknown) => thrown)
      expect(fieldsOf(refused)).toEqual(['zone'])
    }
  })

  it('a configuration, with everything in its place in the file', async () => {
    const operation = operationOf('config', 'apply')
    // A name, and what was seen, are not said inside of a file.
    const entries = [schedule, queue.filter(([field]) => field !== 'ifVersion')].map(brokenInputs)
    const both = fc.tuple(...(entries as [fc.Arbitrary<Broken>, fc.Arbitrary<Broken>]))
    const check = async ([ofSchedule, ofQueue]: [Broken, Broken]) => {
      if (ofSchedule.fields.length + ofQueue.fields.length === 0) return
      const input: Fields = { source: 'ops', schedules: { s: ofSchedule.input }, queues: { q: ofQueue.input } }
      const said = await doors.library(desk, operation, input)
      const { problems = [] } = ('error' in said ? said.error.details : {}) as { problems?: Problem[] }
      const ofPart = (part: string) => problems.filter(({ field }) => field.startsWith(part))
      const without = (part: string) => (field: string) => field.slice(part.length)
      expect(rootsIn(ofPart('schedules.s.'), without('schedules.s.'))).toEqual([...ofSchedule.fields].sort())
      expect(rootsIn(ofPart('queues.q.'), without('queues.q.'))).toEqual([...ofQueue.fields].sort())
    }
    await fc.assert(fc.asyncProperty(both, check), { numRuns: 60 })
    expect(await state()).toEqual(before)
  })
})
