import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../../src/index.ts'
import { errorOf, problemsIn } from '../../../operations/desk.ts'

async function open(): Promise<Belfry> {
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  onTestFinished(() => belfry.close())
  return belfry
}

const wrongOf = async (doing: Promise<unknown>) =>
  (await problemsIn(doing)).map(({ field, problem }) => `${field} ${problem}`)

describe('what a run used', () => {
  it('a handler reports as it goes', async () => {
    const belfry = await open()
    belfry.handle('ask', (run) => {
      run.usage({ tokensIn: 100, tokensOut: 20 })
      run.usage({ tokensOut: 5, money: { amount: 12_000, currency: 'USD' } })
    })
    await belfry.budgets.put({ name: 'b', for: 'kind=handler/ask', per: 'day', tokens: 1_000, money: '1USD', runs: 10 })
    const { id } = await belfry.runs.enqueue({ target: { handler: 'ask' } })
    await belfry.start()
    await belfry.runs.wait(id)
    expect(await belfry.budgets.show('b')).toMatchObject({
      for: 'kind=handler/ask',
      currency: 'USD',
      runs: { used: 1, reserved: 0, left: 9 },
      tokens: { used: 125, unknown: 0 },
      money: { used: 12_000, left: 988_000, unknown: 0 },
      attempts: 0,
      hold: null,
    })
  })

  it('an HTTP target says in its answer, at the paths that its schedule names', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ usage: { input: 700, output: 41, cached: 9 }, cost: 0.0213 }))
    })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const belfry = await Belfry.open({ store: 'memory:', log: false, network: { allowPrivate: true } })
    onTestFinished(() => belfry.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const usage = {
      tokensIn: '$.usage.input',
      tokensOut: 'usage.output',
      tokensCached: '$.usage.cached',
      money: '$.cost',
      currency: 'USD',
    }
    await belfry.schedules.put({ name: 'ask', every: '1h', target: { http: { url } }, usage })
    await belfry.budgets.put({ name: 'b', for: 'schedule=ask', per: 'day', money: '1USD' })
    await belfry.start()
    const { id } = await belfry.schedules.run('ask')
    await belfry.runs.wait(id)
    expect(await belfry.budgets.cost()).toMatchObject([
      {
        key: 'ask',
        runs: 1,
        tokensIn: 700,
        tokensOut: 41,
        tokensCached: 9,
        money: [{ amount: 21_300, currency: 'USD' }],
        moneyUnknown: 0,
        moneyPerUseful: [{ amount: 21_300, currency: 'USD' }],
      },
    ])
    expect((await belfry.budgets.show('b')).money?.used).toBe(21_300)
  })

  it('a command writes into its result file, which is its result too', async () => {
    const belfry = await open()
    const command = `echo '{"tokens":{"in":5,"out":6}}' > "$BELFRY_RESULT_FILE"`
    await belfry.start()
    const { id } = await belfry.runs.enqueue({
      target: { command },
      usage: { tokensIn: '$.tokens.in', tokensOut: '$.tokens.out' },
      tags: ['a', 'b'],
    })
    expect(await belfry.runs.wait(id)).toMatchObject({ result: { value: { tokens: { in: 5, out: 6 } } } })
    expect(await belfry.budgets.cost({ by: 'tag' })).toMatchObject([
      { key: 'a', tokensIn: 5, tokensOut: 6, money: [], moneyUnknown: 1, moneyPerUseful: [], noopShare: null },
      { key: 'b', runs: 1 },
    ])
    expect(await belfry.budgets.cost({ by: 'profile' })).toMatchObject([{ key: 'command' }])
    expect(await belfry.budgets.cost({ by: 'account' })).toMatchObject([{ key: '' }])
    expect(await belfry.budgets.cost({ by: 'day', since: '2d' })).toMatchObject([{ runs: 1 }])
  })

  it('runs that found nothing to do, and those whose answer says nothing, count as unknown and not as absent', async () => {
    const belfry = await open()
    await belfry.start()
    const judged = { expect: { noop: { textIncludes: 'nothing' } } }
    const silent = { target: { command: 'echo {}' }, usage: { tokensIn: '$.usage.in' } }
    const given = [
      { ...judged, target: { command: 'echo nothing' }, tags: ['judged'] },
      { ...judged, target: { command: 'echo work' }, tags: ['judged'] },
      { ...silent, tags: ['silent'] },
      { target: { command: 'true' } },
    ]
    for (const run of given) await belfry.runs.wait((await belfry.runs.enqueue(run)).id)
    const costs = await belfry.budgets.cost({ by: 'tag' })
    expect(costs.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toMatchObject([
      { key: 'judged', runs: 2, useful: 1, noopShare: 0.5, tokensUnknown: 2, moneyUnknown: 2 },
      { key: 'silent', runs: 1, tokensUnknown: 1, moneyUnknown: 1, noopShare: null },
    ])
  })

  it('a host says when it completes', async () => {
    const belfry = await open()
    await belfry.runs.enqueue({ target: null })
    await belfry.budgets.put({ name: 'b', for: 'queue=default', per: 'month', money: '1USD', runs: 1 })
    const { leases } = await belfry.sched.lease('host')
    await belfry.sched.complete(leases[0]?.lease ?? '', { usage: { tokensIn: 10, money: '0.25USD' } })
    expect(await belfry.budgets.show('b')).toMatchObject({ money: { used: 250_000 }, runs: { used: 1 } })
    await belfry.runs.enqueue({ target: null })
    const held = await belfry.sched.lease('host')
    expect(held).toMatchObject({ leases: [], stopped: 'held-by' })
  })
})

describe('a budget per run', () => {
  it('stops a handler that reports more, while it runs', async () => {
    const belfry = await open()
    let steps = 0
    belfry.handle('ask', async (run) => {
      for (; steps < 100; steps++) {
        run.usage({ tokensOut: 40 })
        await run.heartbeat()
      }
    })
    expect(await belfry.budgets.put({ name: 'each', for: 'kind=handler/ask', per: 'run', tokens: 100 })).toMatchObject({
      enforced: 'while-running',
      until: null,
    })
    const { id } = await belfry.runs.enqueue({ target: { handler: 'ask' }, attempts: 5 })
    await belfry.start()
    const { status, parked } = await belfry.runs.wait(id)
    expect([status, parked?.reason]).toEqual([
      'parked',
      'budget each: it has used 120 tokens, and may use 100 (not retryable)',
    ])
    expect(steps).toBe(2)
  })

  it('lets a handler that finished all the same stand', async () => {
    const belfry = await open()
    belfry.handle('ask', (run) => {
      run.usage({ money: { amount: 2_000_000, currency: 'USD' } })
      return 'done'
    })
    await belfry.budgets.put({ name: 'each', for: 'kind=handler/ask', per: 'run', money: '1USD' })
    const { id } = await belfry.runs.enqueue({ target: { handler: 'ask' } })
    await belfry.start()
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', result: { value: 'done' } })
  })

  it('of a kind whose answers report is enforced after each attempt, and says so', async () => {
    const belfry = await open()
    const put = (kind: string) => belfry.budgets.put({ name: kind, for: kind, per: 'run', tokens: 100 })
    expect(await put('kind=command')).toMatchObject({ enforced: 'after-each-attempt' })
    expect(await put('namespace')).toMatchObject({ enforced: 'where-usage-streams' })
  })
})

describe('what is explained', () => {
  it('a run that a spent budget holds names the budget, its reset and the command that adds to it', async () => {
    const belfry = await open()
    belfry.handle('ask', () => undefined)
    const ask = { target: { handler: 'ask' } }
    await belfry.budgets.put({ name: 'b', for: 'kind=handler/ask', per: 'month', zone: 'UTC', runs: 1 })
    await belfry.start()
    await belfry.runs.wait((await belfry.runs.enqueue(ask)).id)
    const { id } = await belfry.runs.enqueue(ask)
    const { until } = await belfry.budgets.show('b')
    expect(await belfry.runs.explain(id)).toMatchObject({
      code: 'held-by',
      sentence: 'Budget b is spent: 1 run a month.',
      unblock: [{ at: until }, { what: 'Add to the budget of this period.', command: 'belfry budget topup b' }],
    })
    expect(await belfry.admission.list()).toMatchObject([
      { on: 'kind:handler/ask', reason: 'budget', waiting: 1, until, lift: 'belfry budget topup b' },
    ])
    await belfry.budgets.topup('b', { runs: 1 })
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed' })
  })

  it('a run that the budget of its tag defers says until when, and what lets it go on', async () => {
    const belfry = await open()
    belfry.handle('ask', () => undefined)
    const ask = { target: { handler: 'ask' }, tags: ['dear'] }
    await belfry.budgets.put({ name: 'b', for: 'tag=dear', per: 'month', zone: 'UTC', runs: 1 })
    await belfry.start()
    await belfry.runs.wait((await belfry.runs.enqueue(ask)).id)
    const { id } = await belfry.runs.enqueue(ask)
    const deferred = async () => (await belfry.runs.get(id)).waiting?.reason === 'deferred: budget'
    await expect.poll(deferred).toBe(true)
    const { notes } = await belfry.runs.explain(id)
    expect(notes.join()).toMatch(
      /Budget b is spent: 1 run a month\. It begins anew at \S+, or sooner by `belfry budget topup b`\./,
    )
    expect(await belfry.runs.get(id)).toMatchObject({ status: 'ready', attempts: 0 })
  })
})

describe('wrong input', () => {
  it.each([
    [{ money: '40' }, ['money names no currency']],
    [{ money: '-1USD' }, ['money is negative']],
    [{ money: '0.0000001USD' }, ['money is finer than a millionth']],
    [{ money: '0USD' }, ['money is 0']],
    [{}, ['runs is missing']],
    [{ for: 'queu=mail', runs: 1 }, ['for is for "queu"']],
    [{ for: 'queue', runs: 1 }, ['for names no queue']],
    [{ for: 'namespace=x', runs: 1 }, ['for names a namespace']],
    [{ runs: 1, perRun: { tokens: 5 } }, ['perRun.tokens is given for an amount that the budget does not limit']],
    [{ tokens: 4, perRun: { tokens: 5 } }, ['perRun.tokens is more than the whole budget']],
    [{ money: '1USD', perRun: { money: '0.1EUR' } }, ['perRun.money is in EUR']],
    [{ runtime: '2h', runtimeMs: 5 }, ['runtime is given beside `runtimeMs`']],
    [{ runs: 0, tokens: 1.5, per: 'year' }, ['runs is 0', 'tokens is 1.5', 'per is "year"']],
  ])('%j', async (given, problems) => {
    const belfry = await open()
    const input = { name: 'b', for: 'namespace', per: 'day', ...given }
    const found = await wrongOf(belfry.budgets.put(input as never))
    expect(found).toHaveLength(problems.length)
    expect(found).toEqual(expect.arrayContaining(problems))
    expect(await belfry.budgets.list()).toEqual([])
  })

  it('a budget of money over answers that do not say what they cost', async () => {
    const belfry = await open()
    await belfry.schedules.put({ name: 'ask', every: '1h', target: { command: ['true'] } })
    const budget = { name: 'b', for: 'schedule=ask', per: 'day', money: '1USD' } as const
    expect(await wrongOf(belfry.budgets.put(budget))).toEqual([
      'money counts runs whose cost is unknown: schedule ask has no usage.money',
    ])
    expect(await belfry.budgets.put({ ...budget, perRun: { money: '0.1USD' } })).toMatchObject({
      money: { perRun: 100_000 },
    })
  })

  it('a budget of money over a profile without cost or prices', async () => {
    const belfry = await open()
    await belfry.config.apply({ source: 'ops', agents: { free: { argv: ['true'], stream: 'text', read: {} } } })
    const budget = { name: 'b', for: 'profile=free', per: 'day', money: '1USD' } as const
    expect(await wrongOf(belfry.budgets.put(budget))).toEqual([
      'money counts runs whose cost is unknown: profile free reads no cost, and has no prices',
    ])
    expect(await belfry.budgets.put({ ...budget, for: 'profile=claude' })).toMatchObject({ for: 'profile=claude' })
  })

  it('another currency than that of the account, and an account that does not exist', async () => {
    const belfry = await open()
    await belfry.accounts.put('max', { currency: 'USD' })
    const budget = { name: 'b', for: 'account=max', per: 'day' } as const
    expect(await wrongOf(belfry.budgets.put({ ...budget, money: '4EUR' }))).toEqual(['money is in EUR'])
    expect(await belfry.budgets.put({ ...budget, money: '4USD' })).toMatchObject({ currency: 'USD' })
    const absent = await errorOf(belfry.budgets.put({ ...budget, for: 'account=mxa', runs: 1 }))
    expect(absent).toMatchObject({ code: 'not-found', hint: 'Did you mean "max"?' })
  })

  it('a schedule or queue that does not exist, with the nearest name', async () => {
    const belfry = await open()
    await belfry.schedules.put({ name: 'digest', every: '1h', target: { handler: 'h' } })
    const absent = await errorOf(belfry.budgets.put({ name: 'b', for: 'schedule=digset', per: 'day', runs: 1 }))
    expect(absent).toMatchObject({ code: 'not-found', hint: 'Did you mean "digest"?' })
    expect(await errorOf(belfry.budgets.put({ name: 'b', for: 'queue=x', per: 'day', runs: 1 }))).toMatchObject({
      code: 'not-found',
    })
    expect(await errorOf(belfry.budgets.topup('b', { runs: 1 }))).toMatchObject({ code: 'not-found' })
    expect(await errorOf(belfry.budgets.delete('b'))).toMatchObject({ code: 'not-found' })
  })

  it('a topup of what is not limited, of another currency, or of a budget per run', async () => {
    const belfry = await open()
    await belfry.budgets.put({ name: 'b', for: 'namespace', per: 'day', money: '1USD' })
    await belfry.budgets.put({ name: 'each', for: 'namespace', per: 'run', tokens: 5 })
    expect(await wrongOf(belfry.budgets.topup('b', { tokens: 5, money: '1EUR' }))).toEqual([
      'tokens is not limited',
      'money is in EUR',
    ])
    expect(await wrongOf(belfry.budgets.topup('b'))).toEqual(['amount is missing'])
    expect(await wrongOf(belfry.budgets.topup('each', { tokens: 5 }))).toEqual(['name is a budget per run'])
  })

  it('a usage path that is none, or money without its currency', async () => {
    const belfry = await open()
    const of = (usage: object) => belfry.runs.enqueue({ target: { handler: 'h' }, usage })
    expect(await wrongOf(of({ tokensIn: '$..x' }))).toEqual(['usage.tokensIn is "$..x"'])
    expect(await wrongOf(of({ money: '$.cost' }))).toEqual(['usage.currency is missing'])
    expect(await wrongOf(of({}))).toEqual(['usage is empty'])
  })
})

it('a config file makes no budget that would count nothing, by what the same file says', async () => {
  const belfry = await open()
  const free = { argv: ['true'], stream: 'text', read: {} }
  const money = { per: 'day', money: '1USD' }
  const apply = (file: object, source = 'ops') => belfry.config.apply({ source, ...file })
  const ofFree = { b: { ...money, for: 'profile=free' } }
  expect(await wrongOf(apply({ agents: { free }, budgets: ofFree }))).toEqual([
    'budgets.b.money counts runs whose cost is unknown: profile free reads no cost, and has no prices',
  ])
  await apply({ agents: { free: { ...free, prices: { '*': { in: 3, out: 15 } } } }, budgets: ofFree })
  const ofAccount = { ...money, for: 'account=max' }
  expect(await wrongOf(apply({ accounts: { max: { currency: 'EUR' } }, budgets: { a: ofAccount } }, 'other'))).toEqual([
    'budgets.a.money is in USD',
  ])
  expect(await wrongOf(apply({ accounts: { mux: {} }, budgets: { a: ofAccount } }, 'other'))).toEqual([
    'budgets.a.for names the account "max", which does not exist',
  ])
  expect(await belfry.budgets.list()).toMatchObject([{ for: 'profile=free' }])
})

it('a config file makes budgets, changes them and deletes those that it no longer names', async () => {
  const belfry = await open()
  const apply = (budgets: Record<string, unknown>) => belfry.config.apply({ source: 'ops', budgets })
  const month = { for: 'queue=mail', per: 'month', zone: 'Europe/Paris', runs: 100 }
  expect(await apply({ mail: month })).toMatchObject({ budgets: [{ name: 'mail', answer: 'created' }] })
  expect(await apply({ mail: month })).toMatchObject({ budgets: [{ answer: 'unchanged' }] })
  expect(await apply({ mail: { ...month, runs: 200 } })).toMatchObject({
    budgets: [{ answer: 'updated', changes: [{ field: 'runs', before: 100, after: 200 }] }],
  })
  expect(await errorOf(belfry.budgets.delete('mail'))).toMatchObject({ code: 'conflict' })
  expect(await wrongOf(apply({ mail: { ...month, money: '5' } }))).toEqual(['budgets.mail.money names no currency'])
  await apply({ mail: month, post: month })
  expect(await apply({ post: month })).toMatchObject({
    budgets: [{ name: 'post' }, { name: 'mail', answer: 'deleted' }],
  })
  expect(await belfry.budgets.list()).toMatchObject([{ name: 'post' }])
})
