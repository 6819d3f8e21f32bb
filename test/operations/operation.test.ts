import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { kinds } from '../../src/kinds.ts'
import { scopeOf } from '../../src/operations/caller-scope.ts'
import { type AnyOperation, everyDoor, operation } from '../../src/operations/operation.ts'
import type { OperationContext } from '../../src/operations/operation-context.ts'
import { nouns } from '../../src/table.ts'
import { problemsIn } from './desk.ts'

const context = { fields: {}, kinds } as unknown as OperationContext
const calls: unknown[] = []

const greeting = {
  noun: 'worker',
  verb: 'greet',
  says: 'Greets somebody.',
  request: 'a greeting',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({ name: z.string().describe('Whom.'), times: z.int().optional() }),
  takes: ['name'],
  local: z.strictObject({ aloud: z.boolean().optional() }),
  output: z.string(),
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{ name: 'you' }],
} as const

describe('a verb whose schemas say all', () => {
  const greet = operation({
    ...greeting,
    async run(_, input, local) {
      calls.push([input, local])
      return `hello ${input.name}`
    },
  })

  it('is called with what could be read', async () => {
    expect(await greet.call(context, { name: 'you' }, { aloud: true })).toBe('hello you')
    expect(calls.pop()).toEqual([{ name: 'you' }, { aloud: true }])
    expect(await greet.call(context, { name: 'you' })).toBe('hello you')
    expect(calls.pop()).toEqual([{ name: 'you' }, {}])
  })

  it('is not called with bad input: all that is wrong with it and beside it is told at once', async () => {
    const bad = greet.call(context, { nam: 'you', times: 1.5 }, { alound: true })
    expect(await problemsIn(bad)).toEqual([
      { field: 'name', problem: 'is missing', expected: 'a text' },
      { field: 'times', problem: 'is 1.5', expected: 'an integer' },
      { field: 'nam', problem: 'is not a field of a greeting', expected: 'name, if that was meant' },
      { field: 'alound', problem: 'is not a field of the options of a greeting', expected: 'aloud, if that was meant' },
    ])
    await expect(bad).rejects.toThrow(/^The greeting is refused: /)
    for (const none of [undefined, null, 'you', [], 5]) await problemsIn(greet.call(context, none))
    expect(calls).toEqual([])
  })
})

it('a verb that looks further is handed what is sound and what is wrong, and has the last word', async () => {
  const judged = operation({
    ...greeting,
    judge: async (_, { given, value, problems }, local) => JSON.stringify({ given, value, problems, local }),
  })
  const answer = JSON.parse(await judged.call(context, { name: 5, times: 2 }, { aloud: 1 }))
  expect(answer).toMatchObject({ given: { name: 5, times: 2 }, value: { times: 2 }, local: {} })
  expect(answer.problems.map(({ field }: { field: string }) => field)).toEqual(['name', 'aloud'])
})

function nested(levels: number): unknown {
  let value: unknown = {}
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

describe('what whoever asks must be allowed', () => {
  const { create, update, pause } = nouns.schedule.operations
  const { enqueue, enqueueMany } = nouns.run.operations
  const command = { target: { command: ['reboot'] } }

  it.each<[string, AnyOperation, unknown, string]>([
    ['to read', nouns.schedule.operations.get, { name: 'a' }, 'read'],
    ['to steer', pause, { name: 'a' }, 'operate'],
    ['to create what calls a handler', create, { name: 'a', target: { handler: 'b' } }, 'operate'],
    ['to create what starts a program', create, { name: 'a', ...command }, 'admin'],
    ['to change a program', update, { name: 'a', ...command }, 'admin'],
    ['to change something else of it', update, { name: 'a', priority: 1 }, 'operate'],
    ['to take the target away', update, { name: 'a', target: null }, 'operate'],
    ['to enqueue a program', enqueue, command, 'admin'],
    ['to enqueue one among others', enqueueMany, { runs: [{}, command] }, 'admin'],
    ['to enqueue others', enqueueMany, { runs: [{}, { target: { handler: 'b' } }] }, 'operate'],
    ['to start an agent, which starts programs', enqueue, { target: { agent: {} } }, 'admin'],
    ['to hide a program behind another kind', enqueue, { target: { handler: 'b', command: undefined } }, 'admin'],
    ['to be told by a program', create, { name: 'a', onFailure: { command: ['mail'] } }, 'admin'],
    ['to change who is told by a program', update, { name: 'a', onRecover: { command: ['mail'] } }, 'admin'],
    ['to be told by a request', create, { name: 'a', onFailure: { http: { url: 'http://h/' } } }, 'operate'],
    ['to be told by nobody any more', update, { name: 'a', onPark: null }, 'operate'],
    ['to say who is told of everything', nouns.store.operations.notify, {}, 'admin'],
    ['to look at notices', nouns.store.operations.notices, {}, 'read'],
    ['to send a secret', enqueue, { target: { http: { url: 'u', headers: { k: { secret: 'K' } } } } }, 'admin'],
    ['to send one inside a body', create, { target: { http: { url: 'u', body: [{ k: { secret: 'K' } }] } } }, 'admin'],
    [
      'to send what is only called so',
      enqueue,
      { target: { http: { url: 'u', body: { secret: 1, k: 2 } } } },
      'operate',
    ],
    [
      'to be told with a secret',
      create,
      { name: 'a', onFailure: { http: { url: 'u', headers: { k: { secret: 'K' } } } } },
      'admin',
    ],
    ['to have a secret as data', enqueue, { payload: { secret: 'K' }, target: { handler: 'b' } }, 'operate'],
    ['to send what is nested without end', enqueue, { target: nested(50_000) }, 'operate'],
    ['to change a policy', nouns.queue.operations.set, { name: 'a' }, 'admin'],
    ['to send nonsense', enqueue, 'nonsense', 'operate'],
    ['to send nothing', enqueueMany, null, 'operate'],
    ['to send a list of nothing', enqueueMany, { runs: [null, 5] }, 'operate'],
  ])('%s', (_, verb, input, scope) => {
    expect(scopeOf(verb, input, kinds)).toBe(scope)
  })
})
