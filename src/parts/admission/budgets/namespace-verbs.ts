import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { name as anyName, zone } from '../../../operations/fields/basic-fields.ts'
import { patched } from '../../../operations/fields/patch.ts'
import { durationFields, durationOf } from '../../../operations/input/duration-input.ts'
import { type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { absent } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { type AnswerOf, count, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import type { Facts, Listing } from '../../../operations/show.ts'
import { awaitLeases } from '../../../store/holds/await-leases.ts'
import { listNamespaces, setNamespace } from './namespaces.ts'

const amount = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
const name = anyName.describe('The name of the namespace.')

const schema = z.strictObject({
  name: text('Its name.'),
  zone: text('The time zone of its months.').nullable(),
  schedules: count('How many schedules it has that are not finished.'),
  schedulesMax: count('How many it may have; null: no limit.').nullable(),
  everyMinMs: count('The least time between two occurrences of a schedule; null: no limit.').nullable(),
  maxConcurrent: count(
    'How many of its runs may be at work at once, over all queues; null: as many as the queues allow.',
  ).nullable(),
  runsMade: count('How many runs it has made in this month; counted only while it has a quota of runs.'),
  runsPerMonth: count('How many it may make in a month; null: no limit.').nullable(),
  tokensUsed: count('How many tokens its runs have used or reserved in this month.'),
  tokensPerMonth: count('How many they may use in a month; null: no limit.').nullable(),
  resetAt: instantOutput('When its next month begins; null where it has no quota.').nullable(),
})
export type Namespace = AnswerOf<typeof schema>

const of = (used: number, max: number | null) => (max === null ? String(used) : `${used} of ${max}`)

const shown: Listing<readonly Namespace[], Namespace> = {
  columns: [
    ['NAMESPACE', 'name', 'name'],
    ['SCHEDULES', ({ schedules, schedulesMax }) => of(schedules, schedulesMax)],
    ['EVERY AT LEAST', 'everyMinMs', 'duration'],
    ['AT ONCE', 'maxConcurrent', 'count'],
    ['RUNS A MONTH', ({ runsMade, runsPerMonth }) => (runsPerMonth === null ? null : of(runsMade, runsPerMonth))],
    [
      'TOKENS A MONTH',
      ({ tokensUsed, tokensPerMonth }) => (tokensPerMonth === null ? null : of(tokensUsed, tokensPerMonth)),
    ],
    ['RESET', 'resetAt', 'when'],
  ],
}

const facts: Facts<Namespace> = {
  head: ({ name: called }) => `namespace ${plainText(called)}`,
  facts: [
    ['schedules', ({ schedules, schedulesMax }) => of(schedules, schedulesMax)],
    ['every', 'everyMinMs', 'duration'],
    ['at once', 'maxConcurrent', 'count'],
    [
      'runs',
      ({ runsMade, runsPerMonth }) => (runsPerMonth === null ? null : `${of(runsMade, runsPerMonth)} this month`),
    ],
    [
      'tokens',
      ({ tokensUsed, tokensPerMonth }) =>
        tokensPerMonth === null ? null : `${of(tokensUsed, tokensPerMonth)} this month`,
    ],
    ['zone', 'zone', 'text'],
    ['reset', 'resetAt', 'when'],
  ],
}

const reading = { noun: 'namespace', effect: 'read', scope: 'read', method: 'GET', doors: everyDoor } as const

const list = operation({
  ...reading,
  verb: 'list',
  says: 'List namespaces with their quotas; a caller with a token sees its own.',
  request: 'a list of namespaces',
  input: z.strictObject({}),
  takes: [],
  output: z.array(schema),
  show: shown,
  errors: ['invalid'],
  examples: [{}],
  run: (context) => seenBy(context),
})

const show = operation({
  ...reading,
  verb: 'show',
  says: 'Show a namespace: its quotas, and what it has used of them.',
  request: 'a look at a namespace',
  input: z.strictObject({ name }),
  takes: ['name'],
  output: schema,
  show: facts,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'default' }],
  run: (context, { name: wanted }) => present(context, wanted),
})

/** A model must not raise what it may have. */
const people: Doors = { ...everyDoor, mcp: 'Only a person changes what a namespace may have.' }

const set = operation({
  noun: 'namespace',
  verb: 'set',
  method: 'PATCH',
  idempotent: true,
  begins: true,
  persons: true,
  effect: 'write',
  scope: 'admin',
  says: 'Set the quotas of a namespace; what is not named stays.',
  request: 'a quota',
  input: z.strictObject({
    name,
    ...patched({
      schedulesMax: amount.describe('How many schedules it may have.').optional(),
      ...durationFields('everyMin', 'The least time between two occurrences of a schedule.'),
      maxConcurrent: amount
        .max(1_000_000)
        .describe('How many of its runs may be at work at once, over all queues.')
        .optional(),
      runsPerMonth: amount.describe('How many runs it may make in a month.').optional(),
      tokensPerMonth: amount.describe('How many tokens its runs may use in a month.').optional(),
    }),
    zone: zone
      .describe('The time zone of its months. Default: the zone that it has, else the zone of the caller.')
      .optional(),
  }),
  takes: ['name'],
  doors: people,
  output: schema,
  show: facts,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'default', schedulesMax: 100, everyMin: '1m', runsPerMonth: 100_000 }],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const { name: wanted, zone: months, schedulesMax, maxConcurrent, runsPerMonth, tokensPerMonth } = value
    const everyMinMs = durationOf<number | null>(value, 'everyMin', problems)
    if (typeof everyMinMs === 'number' && everyMinMs < 1) {
      problems.push({ field: 'everyMin', problem: `is ${everyMinMs} ms`, expected: 'a duration of at least 1ms' })
    }
    refuse('The quota', problems)
    const named = wanted as string
    const { store, scope, actor, zone: zoneDefault } = context
    if (scope !== undefined && named !== store.namespace) throw notOwn(context, named)
    const change = { zone: months, schedulesMax, everyMinMs, maxConcurrent, runsPerMonth, tokensPerMonth }
    await store.do(setNamespace, named, { change, zoneDefault, actor })
    // A lease that was under way has not seen the ceiling.
    if (typeof maxConcurrent === 'number') await store.do(awaitLeases)
    return present(context, named)
  },
})

/** A token is of one namespace, and its holder has no business in the others. */
async function seenBy({ store, scope }: OperationContext): Promise<Namespace[]> {
  const all = await store.look(listNamespaces)
  return scope === undefined ? all : all.filter(({ name: called }) => called === store.namespace)
}

async function present(context: OperationContext, wanted: string): Promise<Namespace> {
  const seen = await seenBy(context)
  const found = seen.find(({ name: called }) => called === wanted)
  if (found !== undefined) return found
  if (context.scope !== undefined) throw notOwn(context, wanted)
  const names = seen.map(({ name: called }) => called)
  throw absent('namespace', wanted, names, 'A namespace exists once a store was opened with its name.')
}

function notOwn({ store }: OperationContext, wanted: string): BelfryError {
  return new BelfryError('not-found', `There is no namespace ${quoted(wanted)} for this token.`, {
    hint: `A token is of one namespace: ${store.namespace}.`,
    details: { namespace: wanted },
  })
}

export const namespaceOperations = { list, show, set }
