import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../../src/core/clock.ts'
import { HttpDoor } from '../../../../src/doors/http/http-door.ts'
import { toolName } from '../../../../src/doors/mcp/tool-sets.ts'
import { openStore } from '../../../../src/open-store.ts'
import { routes } from '../../../../src/routes.ts'
import { all, both } from '../../../../src/store/statement.ts'
import { operations } from '../../../../src/table.ts'
import { TestClock } from '../../../../src/testing.ts'
import { Terminal } from '../../../doors/cli/terminal.ts'
import { strange } from '../../../doors/fuzzing.ts'
import { Desk } from '../../../operations/desk.ts'
import { atEachDesk, verbsOf } from '../tasks/scene.ts'
import { leaseAgents, looks, running, tokenOf } from './scene.ts'

type Input = Readonly<Record<string, unknown>>

/** A call that an agent makes with the token of its run. */
interface Try {
  readonly what: string
  readonly path: string
  readonly method: string
  readonly body?: unknown
}

const origin = 'http://127.0.0.1:4747'
const hostileFields = {
  env: { A: 'b' },
  cwd: '/etc',
  argv: ['sh'],
  queue: 'default',
  permanent: true,
  setup: 'sh',
  tags: ['a'],
}

/** Verbs that are not open to runs, with one of their examples or a strange input. */
const ofOthers = fc
  .tuple(
    fc.constantFrom(...routes.filter(({ operation }) => operation.inRun !== true)),
    fc.nat(),
    strange,
    fc.boolean(),
  )
  .map(([{ operation, method, path, subject }, which, odd, isOdd]): Try => {
    const example = operation.examples[which % operation.examples.length] as Input
    const { [subject ?? '']: named, ...rest } = example
    const input = isOdd ? { ...rest, reason: odd } : rest
    const filled = path.replace(/\{\w+\}/, encodeURIComponent(String(named)))
    const query = new URLSearchParams(
      Object.entries(rest).map(([field, value]): [string, string] => [field, String(value)]),
    )
    const what = `${operation.noun}.${operation.verb}`
    return method === 'GET' ? { what, method, path: `${filled}?${query}` } : { what, method, path: filled, body: input }
  })

const toolCall = (name: string, given: unknown): Try => ({
  what: `tool ${name}`,
  method: 'POST',
  path: '/mcp',
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
})

/** The same verbs as tools, some of which do not exist. */
const ofTools = fc
  .tuple(fc.constantFrom(...operations.filter(({ inRun }) => inRun !== true)), fc.nat(), fc.boolean())
  .map(([operation, which, isKnown]) =>
    toolCall(isKnown ? toolName(operation) : 'shell', operation.examples[which % operation.examples.length]),
  )

/** Verbs that are open to runs, called for an action that is forbidden to an agent. */
function ofOwn(known: { readonly foreign: string; readonly run: string }) {
  const plan = { in: '20m', prompt: 'Look.' }
  const verbs: readonly (readonly [string, string, Input])[] = [
    ['plan', 'cron_create', { ...plan, agent: 'codex' }],
    ['plan', 'cron_create', { every: '1m', prompt: 'Often.' }],
    ['plan', 'cron_create', { cron: '* * * * *', prompt: 'Often.' }],
    ['plan', 'cron_create', { ...plan, durable: false }],
    ...Object.entries(hostileFields).map(
      ([field, value]) => ['plan', 'cron_create', { ...plan, [field]: value }] as const,
    ),
    ['repeat', 'loop', { prompt: 'x', until: { command: 'true' } }],
    ['repeat', 'loop', { prompt: 'x', every: '10s' }],
    ['wake', 'schedule_wakeup', { stop: true }],
    ['wake', 'schedule_wakeup', { delaySeconds: 60, reason: 'x' }],
    ['progress', 'task_progress', { says: 'x', run: known.run }],
  ]
  const inbox = [{ project: '/srv/other' }, { session: 'yours' }, { session: 'yours', project: '/srv/app' }]
  return fc.oneof(
    fc.tuple(fc.constantFrom(...verbs), fc.boolean()).map(([[verb, tool, body], isTool]): Try => {
      return isTool ? toolCall(tool, body) : { what: verb, method: 'POST', path: `/api/tasks/${verb}`, body }
    }),
    fc.constantFrom(...inbox).map((body): Try => ({ what: 'inbox', method: 'POST', path: '/api/inbox/next', body })),
    fc.boolean().map((isTool): Try => {
      const path = `/api/tasks/${known.foreign}/unplan`
      return isTool
        ? toolCall('cron_delete', { id: known.foreign })
        : { what: 'unplan', method: 'POST', path, body: {} }
    }),
  )
}

const counted = [
  'schedule',
  'schedule_version',
  'run',
  'ready',
  'aside',
  'lease',
  'queue',
  'hold',
  'budget',
  'token',
  'setting',
  'hint',
  'task',
]
const audited = both('test audited agents', `select actor, detail from belfry.audit where caller = 'agent' order by id`)
const countRows = counted.map((table) => both(`test count ${table}`, `select count(*) as rows from belfry.${table}`))

/** The number of rows of everything that a call could change. */
const amounts = (desk: Desk) =>
  desk.store.look(function* () {
    const rows: unknown[] = []
    for (const statement of countRows) rows.push(...(yield* all(statement)))
    return JSON.stringify(rows)
  })

const headersOf = (token: string, isDry: boolean) => ({
  host: '127.0.0.1:4747',
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...(isDry && { 'belfry-dry-run': 'true' }),
})

/** Whether a call was refused. A tool reports a refusal in its answer, and a call that needs confirmation was not carried out. */
async function isRefused(response: Response): Promise<boolean> {
  if (response.status >= 400) return true
  const { result } = ((await response.json()) ?? {}) as { readonly result?: { readonly isError?: boolean } }
  return result?.isError === true
}

/** Command lines of an agent in its shell, where no server was named to it. */
const typedTries = [
  'token create evil --scope admin',
  'go',
  'stop --reason x',
  'run list',
  'run cancel r-1',
  'task create --in 20m --agent claude --prompt x',
  'schedule create evil --every 1m --command -- true',
  'inbox next --session theirs',
  'setting set durable off',
  'trust belfry.yaml',
  'apply belfry.yaml',
  'install claude',
  'up --once',
]

describe('an agent in a shell without a server', () => {
  it('acts as its run with the token of the run, takes no message of a live session, and with a dead or damaged token does nothing', async () => {
    const terminal = new Terminal()
    onTestFinished(() => terminal.remove())
    terminal.write('belfry.yaml', 'source: test\nagents: { claude: { mayUse: self } }\n')
    expect(await terminal.belfry('apply belfry.yaml')).toMatchObject({ exit: 0 })
    const made = 'task create --every 1h --start-now --exact --agent claude --prompt Watch --name watch'
    expect(await terminal.belfry(made)).toMatchObject({ exit: 0 })
    expect(await terminal.belfry('inbox send Secret --session theirs')).toMatchObject({ exit: 0 })
    const desk = new Desk(
      await openStore(`sqlite:${join(terminal.folder, '.belfry', 'belfry.db')}`, { clock: systemClock }),
      new TestClock(),
    )
    onTestFinished(() => desk.store.close())
    const { lease, token, end } = await running(desk, terminal.folder)
    const before = await amounts(desk)
    const as = (env: Readonly<Record<string, string>>) => (line: string) => terminal.belfry(line, { env })
    const inRun = as({ BELFRY_TOKEN: token })
    for (const line of typedTries) expect(await inRun(line), line).toMatchObject({ exit: 6 })
    const stop = { stdin: JSON.stringify({ session_id: 'theirs', cwd: terminal.folder }), env: { BELFRY_TOKEN: token } }
    expect(await terminal.belfry('hook claude-stop', stop)).toEqual({ exit: 0, stdout: '', stderr: '' })
    expect(await amounts(desk)).toBe(before)

    expect(await inRun('task wake --delay-seconds 60 --reason Slow --prompt Look')).toMatchObject({ exit: 0 })
    const [child] = (await verbsOf(desk).tasks.list({})).filter(({ by }) => by === 'agent')
    expect(child).toMatchObject({ author: `agent ${lease.runId}`, run: lease.runId })
    const after = await amounts(desk)
    const damaged = token.slice(0, -1)
    await end()
    for (const wrong of [token, damaged, token.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
      for (const line of ['task list', 'task wake --delay-seconds 60 --reason Slow --prompt Look']) {
        const { exit, stderr } = await as({ BELFRY_TOKEN: wrong })(line)
        expect([exit, stderr], line).toEqual([6, expect.stringMatching(/token/)])
      }
    }
    const { tasks } = verbsOf(desk)
    expect(await tasks.list({})).toHaveLength(2)
    expect(after).not.toBe(before)
  })
})

atEachDesk('agents that try to pass their bounds', (desk, kind) => {
  const agents = kind === 'SQLite' ? 1_000 : 60

  it('are refused, all of them, and the audit has every one', async () => {
    const { tasks, runs, holds, budgets, config, queues } = verbsOf(desk())
    await config.apply({ source: 'test', agents: { claude: { mayUse: 'self' } } })
    const { task } = await tasks.create({ ...looks, cwd: '/srv/other' })
    const foreign = await running(desk())
    const { task: theirs } = await foreign.agent.plan({ in: '1h', prompt: 'Theirs.' })
    await queues.set('agents', { maxConcurrent: agents + 1 })
    await budgets.put('day', { per: 'day', zone: 'UTC', runs: 9_999, for: 'namespace' })
    await runs.enqueueMany(
      Array.from({ length: agents }, (_, n) => ({
        queue: 'agents',
        concurrencyKey: `key ${n}`,
        target: { agent: { profile: 'claude', prompt: 'Work.' }, cwd: '/srv/app' },
      })),
    )
    const leases: Awaited<ReturnType<typeof leaseAgents>> = []
    for (let more = await leaseAgents(desk()); more.length > 0; more = await leaseAgents(desk())) leases.push(...more)
    expect(leases).toHaveLength(agents)
    await holds.stop({ on: 'kind:http', reason: 'Incident.' })
    const tokens = await Promise.all(leases.map((lease) => tokenOf(desk(), lease)))

    const { context, events } = desk()
    const unforeseen: unknown[] = []
    const onUnforeseen = (error: unknown) => unforeseen.push(error)
    const rate = { perSecond: 1e6, burst: 1e6 }
    const door = new HttpDoor({ context, events, version: '1', hosts: ['127.0.0.1:4747'], onUnforeseen, rate })
    const before = await amounts(desk())
    const own = fc.oneof(
      ofOwn({ foreign: theirs.id, run: foreign.lease.runId }),
      ofOwn({ foreign: task.id, run: 'r-11' }),
    )
    const tries = fc.sample(fc.tuple(fc.oneof(ofOthers, ofOthers, own, own, ofTools), fc.boolean()), {
      numRuns: agents,
      seed: 22,
    })
    const succeeded: string[] = []
    for (const [index, [{ what, path, method, body }, isDry]] of tries.entries()) {
      const headers = headersOf(tokens[index] as string, isDry)
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await door.fetch(new Request(origin + path, { method, headers, ...sent }))
      if (!(await isRefused(response))) succeeded.push(`${what} ${path} ${JSON.stringify(body)}`)
    }
    door.close()
    expect(succeeded).toEqual([])
    expect(unforeseen).toEqual([])
    expect(await amounts(desk())).toBe(before)
    const lines = await desk().store.look(function* () {
      return yield* all<{ actor: string; detail: string | null }>(audited)
    })
    const refused = new Set(lines.filter(({ detail }) => detail?.includes('refused')).map(({ actor }) => actor))
    const missing = leases.flatMap(({ runId }, index) =>
      refused.has(`agent ${runId}`) ? [] : [tries[index]?.[0].what],
    )
    expect(missing).toEqual([])
    expect(await holds.list({})).toHaveLength(1)
  }, 120_000)
})
