import { describe, expect, it } from 'vitest'
import { toolsFor } from '../../../../src/doors/mcp/tools.ts'
import { tokenOperations } from '../../../../src/operations/token/noun.ts'
import { reserve } from '../../../../src/parts/admission/accounts/reserve-account.ts'
import { onPorch } from '../../../doors/http/porch.ts'
import { call, modelAt, wholeOf } from '../../../doors/mcp/model.ts'
import { atDesk, errorOf, problemsIn, startAt, verbsAt } from '../../../operations/desk.ts'
import { inEachWard } from '../../../operations/store/ward.ts'
import { listAudit } from '../../../store/list-audit.ts'

const hour = 3_600_000
const iso = (at: number) => new Date(at).toISOString()

describe('the verbs of an account', () => {
  const desk = atDesk()
  const { accounts, runs, schedules, holds, config, store } = verbsAt(() => desk().context)

  it('put creates and changes: what is not given stays, and null removes it', async () => {
    const headroom = { at: 0.8, priority: 50 }
    expect(await accounts.put('claude-max', { maxConcurrent: 3, headroom })).toMatchObject({
      answer: 'created',
      account: { name: 'claude-max', maxConcurrent: 3, blockMaxMs: 6 * hour, headroom, currency: null, state: 'open' },
    })
    expect(await accounts.put('claude-max', { blockMax: '1h', currency: 'USD' })).toMatchObject({
      answer: 'updated',
      account: { maxConcurrent: 3, blockMaxMs: hour, headroom, currency: 'USD' },
    })
    expect(await accounts.put('claude-max', { maxConcurrent: null, blockMax: null })).toMatchObject({
      answer: 'updated',
      account: { maxConcurrent: null, blockMaxMs: 6 * hour },
    })
    expect((await accounts.put('claude-max')).answer).toBe('unchanged')
    expect((await accounts.list({})).map(({ name }) => name)).toEqual(['claude-max'])
  })

  it('every wrong bound is refused at once', async () => {
    const wrong = {
      maxConcurrent: 0,
      blockMax: '9d',
      headroom: { at: 1.5, priority: 0.5, extra: 1 },
      currency: 'usd',
    }
    const fields = (await problemsIn(accounts.put('a,b', wrong as never))).map(({ field }) => field)
    expect(fields.toSorted()).toEqual([
      'blockMax',
      'currency',
      'headroom.at',
      'headroom.extra',
      'headroom.priority',
      'maxConcurrent',
      'name',
    ])
  })

  it('a block lasts at most as long as the account may be blocked, and ends in the future', async () => {
    await accounts.put('claude-max')
    const reason = 'The invoice is being paid.'
    expect(await problemsIn(accounts.block('claude-max', { reason, for: '9d' }))).toMatchObject([
      {
        field: 'for',
        expected: expect.stringContaining(`at most ${iso(startAt + 6 * hour)}`),
      },
    ])
    expect(await problemsIn(accounts.block('claude-max', { reason, until: iso(startAt - 1) }))).toMatchObject([
      { field: 'until' },
    ])
    expect(
      await problemsIn(accounts.block('claude-max', { reason, until: iso(startAt + 1), for: '1h' })),
    ).toMatchObject([{ field: 'until' }])
    expect((await accounts.get('claude-max')).state).toBe('open')
    expect(await accounts.block('claude-max', { reason, for: '2h' })).toMatchObject({
      state: 'blocked',
      blockedUntil: startAt + 2 * hour,
      why: reason,
    })
    expect(await accounts.block('claude-max', { reason })).toMatchObject({ blockedUntil: startAt + 6 * hour })
    expect(await holds.list({})).toMatchObject([{ on: 'account:claude-max', reason: 'account-blocked', by: 'tester' }])
    expect(await accounts.unblock('claude-max')).toMatchObject({ state: 'probing', allowed: 1 })
    expect(await errorOf(accounts.unblock('claude-max'))).toMatchObject({ code: 'conflict' })
    expect(await errorOf(accounts.unblock('claud-max'))).toMatchObject({
      code: 'not-found',
      hint: 'Did you mean "claude-max"?',
    })
  })

  it('an unknown account is refused with the nearest name, for runs, lists of runs and schedules', async () => {
    await accounts.put('claude-max')
    const target = { handler: 'h' }
    const expected = 'a known account, such as "claude-max"'
    const problem = 'names the account "claud-max", which does not exist'
    expect(await problemsIn(runs.enqueue({ target, account: 'claud-max' }))).toEqual([
      { field: 'account', problem, expected },
    ])
    expect(await problemsIn(runs.enqueueMany([{ target }, { target, account: ['claude-max', 'claud-max'] }]))).toEqual([
      { field: 'runs[1].account', problem, expected },
    ])
    expect(await problemsIn(schedules.create({ name: 's', every: '1h', target, account: 'claud-max' }))).toEqual([
      { field: 'account', problem, expected },
    ])
    await schedules.create({ name: 's', every: '1h', target, account: 'claude-max' })
    expect(await problemsIn(schedules.update('s', { account: ['claud-max'] }))).toMatchObject([{ field: 'account' }])
    expect(await problemsIn(runs.enqueue({ target, account: ['claude-max', 'claude-max'] }))).toMatchObject([
      { field: 'account' },
    ])
    expect((await runs.list({})).runs).toEqual([])
  })

  it('a schedule and its runs keep their accounts in order, and a run says so', async () => {
    await accounts.put('a')
    await accounts.put('b')
    await schedules.create({ name: 's', every: '1h', target: { handler: 'h' }, account: 'b,a' })
    expect(await schedules.get('s')).toMatchObject({ account: ['b', 'a'] })
    const { id } = await schedules.run('s')
    expect(await runs.get(id)).toMatchObject({ account: ['b', 'a'] })
    expect(await errorOf(accounts.delete('a'))).toMatchObject({
      code: 'conflict',
      details: { by: expect.arrayContaining(['schedule s']) },
    })
  })

  it('an account at its ceiling is nothing to note, and a blocked one is', async () => {
    await accounts.put('max', { maxConcurrent: 1 })
    await runs.enqueue({ target: { handler: 'h' }, account: 'max' })
    const [lease] = await desk().lease()
    const { runId = '', fence = 0 } = lease ?? {}
    await desk().store.do(reserve, { runId, fence, accounts: ['max'], isReserving: false })
    expect(await holds.list({})).toMatchObject([{ reason: 'account-full' }])
    const noted = async () => (await store.doctor({})).checks.find(({ check }) => check === 'holds')?.says
    expect(await noted()).toBe('No hold keeps work from starting.')
    await accounts.block('max', { reason: 'unpaid' })
    expect(await noted()).toBe('1 hold in force: account:max.')
  })

  it('a config file makes accounts before what names them, manages them, and deletes only what is free', async () => {
    const target = { handler: 'h' }
    const file = {
      source: 'ops',
      accounts: { max: { maxConcurrent: 2 } },
      schedules: { s: { every: '1h', target, account: 'max' } },
    }
    expect(await config.apply(file as never)).toMatchObject({ accounts: [{ name: 'max', answer: 'created' }] })
    expect(await errorOf(accounts.put('max', { maxConcurrent: 3 }))).toMatchObject({ code: 'conflict' })
    const changed = { ...file, accounts: { max: { blockMax: '1h' } } }
    expect(await config.apply(changed as never)).toMatchObject({ accounts: [{ name: 'max', answer: 'updated' }] })
    expect(await accounts.get('max')).toMatchObject({ maxConcurrent: null, blockMaxMs: hour, managedBy: 'ops' })
    const wrong = { ...file, accounts: { max: { maxConcurrent: -1, blockMax: '9d' } } }
    expect((await problemsIn(config.apply(wrong as never))).map(({ field }) => field)).toEqual([
      'accounts.max.maxConcurrent',
      'accounts.max.blockMax',
    ])
    expect(await errorOf(config.apply({ source: 'ops', schedules: file.schedules, yes: true } as never))).toMatchObject(
      { code: 'conflict' },
    )
    await config.apply({ source: 'ops', yes: true } as never)
    expect(await accounts.list({})).toEqual([])
  })
})

describe('a model', () => {
  const desk = atDesk()
  const { accounts, schedules } = verbsAt(() => desk().context)

  it('reads accounts, and can neither bound nor block nor unblock one, whatever its scope', async () => {
    await accounts.put('claude-max', { maxConcurrent: 3 })
    await accounts.block('claude-max', { reason: 'unpaid' })
    const tools = toolsFor('admin').flatMap(({ name }) => (name.startsWith('account') ? [name] : []))
    expect(tools.toSorted()).toEqual(['account_get', 'account_list'])
    const model = await modelAt({ context: async () => desk().context, scope: 'admin' })
    expect(JSON.stringify(wholeOf(await call(model, 'account_get', { name: 'claude-max' })))).toContain('unpaid')
    for (const tool of ['account_put', 'account_block', 'account_unblock', 'account_delete']) {
      expect(await call(model, tool, { name: 'claude-max' }), tool).toMatchObject({ isError: true })
    }
    expect(await accounts.get('claude-max')).toMatchObject({ state: 'blocked', maxConcurrent: 3 })
  })

  it('cannot take the account from a schedule, nor give it another', async () => {
    await accounts.put('claude-max', { maxConcurrent: 3 })
    await accounts.put('spare', {})
    await schedules.create({ name: 'digest', every: '1h', target: { handler: 'h' }, account: ['claude-max'] })
    const model = await modelAt({ context: async () => desk().context, scope: 'admin' })
    for (const account of [null, 'spare', ['claude-max', 'spare']]) {
      const refused = await call(model, 'schedule_update', { name: 'digest', account })
      expect(refused.isError).toBe(true)
      expect(JSON.stringify(refused)).toContain('Only a person takes accounts from')
    }
    expect((await call(model, 'schedule_update', { name: 'digest', every: '2h' })).isError ?? false).toBe(false)
  })
})

describe('over HTTP', () => {
  const porch = onPorch()

  it('an admin bounds an account, an operator blocks it, and a reader reads it', async () => {
    const body = { maxConcurrent: 3 }
    expect(await porch().problem('/api/accounts/claude-max', { method: 'PUT', body, as: 'operate' })).toMatchObject({
      status: 403,
    })
    await porch().json('/api/accounts/claude-max', { method: 'PUT', body, as: 'admin' })
    const blocked = await porch().json('/api/accounts/claude-max/block', {
      body: { reason: 'unpaid', for: '1h' },
      as: 'operate',
    })
    expect(blocked).toMatchObject({ state: 'blocked', blockedUntil: iso(startAt + hour) })
    expect(await porch().json('/api/accounts', { as: 'read' })).toMatchObject([
      { name: 'claude-max', maxConcurrent: 3 },
    ])
  })

  it('an agent opens nothing, whatever its scope, and the audit says that it tried', async () => {
    await porch().json('/api/accounts/claude-max', { method: 'PUT', body: {}, as: 'admin' })
    await porch().json('/api/accounts/claude-max/block', { body: { reason: 'unpaid' }, as: 'operate' })
    const { context, store } = porch().desk
    const { token } = await tokenOperations.create.call(context, { name: 'reviewer', scope: 'admin', for: 'agent' })
    const asked = { body: {}, headers: { authorization: `Bearer ${token}` } }
    expect(await porch().problem('/api/accounts/claude-max/unblock', asked)).toMatchObject({ code: 'not-allowed' })
    expect(await store.look(listAudit, 'account claude-max')).toContainEqual(
      expect.objectContaining({ actor: 'reviewer', verb: 'account.unblock', detail: { refused: 'not-allowed' } }),
    )
    expect(await porch().json('/api/accounts/claude-max')).toMatchObject({ state: 'blocked' })
  })
})

inEachWard((ward) => {
  const { accounts, budgets } = verbsAt(() => ward().context)

  it('an account keeps the currency of its budgets, which would count nothing in another one', async () => {
    await accounts.put('claude-max', { currency: 'USD' })
    await budgets.put('b', { for: 'account=claude-max', per: 'day', money: '5USD' })
    expect(await problemsIn(accounts.put('claude-max', { currency: 'EUR' }))).toEqual([
      { field: 'currency', problem: 'is EUR, and budget b counts this account in USD', expected: 'USD' },
    ])
    expect(await accounts.get('claude-max')).toMatchObject({ currency: 'USD' })
    expect(await accounts.put('claude-max', { currency: 'USD', maxConcurrent: 2 })).toMatchObject({ answer: 'updated' })
    await budgets.delete('b')
    expect(await accounts.put('claude-max', { currency: 'EUR' })).toMatchObject({ answer: 'updated' })
  })
})
