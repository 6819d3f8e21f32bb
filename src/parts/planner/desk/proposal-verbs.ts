import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { limit } from '../../../operations/fields/basic-fields.ts'
import { quoted } from '../../../operations/input/refuse-input.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { proposalNumber } from '../looks/act-on-schedule.ts'
import { effectInWords } from '../steer.ts'
import { decideProposal, findProposal, listProposals, type Proposal, proposalStates } from './proposal-row.ts'

const proposalId = noted(
  z.string().refine((id) => proposalNumber(id) !== null),
  { expected: 'the id of a proposal, such as p-17' },
).describe('The id of the proposal.')

const instants = z.array(z.int()).readonly()
const schema = z.strictObject({
  id: text('Its id.'),
  schedule: text('The schedule that it is about.'),
  analysis: text('The analysis that it comes from.').nullable(),
  state: z.enum(proposalStates).describe('Whether it is open, or what became of it.'),
  author: text('The planner.'),
  wants: text('What it would do.'),
  reason: text('Why.'),
  createdAt: instantOutput('When it was made.'),
  expiresAt: instantOutput('When it expires.'),
  decidedAt: instantOutput('When it was decided.').nullable(),
  decidedBy: text('The person who decided it.').nullable(),
  without: instants.describe('The next instants as they are, in epoch ms.'),
  with: instants.describe('The next instants as they would be, in epoch ms.'),
  outranked: flag('It was approved, and a hint of a higher rank counts in its place until that ends.').exactOptional(),
})
type Shown = z.output<typeof schema>

function shownOf({ effect, ...proposal }: Proposal): Shown {
  return { ...proposal, wants: effectInWords(effect) }
}

const people: Doors = {
  ...everyDoor,
  mcp: 'Only a person decides a proposal; a model reads proposals and makes them.',
}
const withoutModels: Doors = {
  ...everyDoor,
  mcp: 'People read and decide proposals; a planner makes them with its own tools.',
}
const reading = { noun: 'proposal', effect: 'read', scope: 'read', doors: withoutModels, method: 'GET' } as const
const deciding = {
  noun: 'proposal',
  effect: 'write',
  scope: 'operate',
  persons: true,
  doors: people,
  takes: ['id'],
  input: z.strictObject({ id: proposalId }),
  output: schema,
  errors: ['invalid', 'not-found', 'conflict'],
  examples: [{ id: 'p-17' }],
} as const

export const list = operation({
  ...reading,
  verb: 'list',
  says: 'List proposals of planners that wait for a decision, newest first.',
  request: 'a list of proposals',
  input: z.strictObject({
    all: z.boolean().describe('Also those that are decided or over. Default: false.').optional(),
    before: proposalId.describe('The last id of the previous page.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: z.array(schema),
  show: {
    columns: [
      ['ID', 'id', 'name'],
      ['SCHEDULE', 'schedule', 'short'],
      ['STATE', 'state', 'status'],
      ['WANTS', 'wants', 'short'],
      ['BECAUSE', 'reason', 'short'],
      ['EXPIRES', 'expiresAt', 'relative'],
    ],
    none: 'No proposals wait for a decision.',
  },
  errors: ['invalid'],
  examples: [{}, { all: true, limit: 20 }],
  nextPage: behindLast<Shown>(({ id }) => ({ before: id })),
  async run({ store }, { all = false, before, limit: most = 100 }) {
    return (await store.look(listProposals, { isAll: all, before, limit: most })).map(shownOf)
  },
})

export const get = operation({
  ...reading,
  verb: 'get',
  command: ['proposal', 'show'],
  says: 'Show a proposal with the next instants with and without it.',
  request: 'a request for a proposal',
  input: z.strictObject({ id: proposalId }),
  takes: ['id'],
  output: schema,
  show(proposal, sheet) {
    const line = (label: string, values: readonly number[]) =>
      `  ${label}  ${values.map((at) => sheet.local(at)).join(', ') || 'none'}`
    return [
      `${proposal.id}  ${proposal.state}  ${proposal.schedule}: ${proposal.wants}`,
      `  because  ${proposal.reason}`,
      line('without', proposal.without),
      line('with   ', proposal.with),
      ...(`${proposal.with}` === `${proposal.without}`
        ? ['  it changes none of these: a hint of a higher rank, a bound or the window decides them']
        : []),
      `  expires  ${sheet.when(proposal.expiresAt)}`,
      ...(proposal.state === 'open' ? [`  approve it: ${sheet.command('proposal', 'approve', proposal.id)}`] : []),
    ].join('\n')
  },
  errors: ['invalid', 'not-found'],
  examples: [{ id: 'p-17' }],
  async run({ store }, { id }) {
    const found = await store.look(findProposal, id)
    if (found === null) throw absent(id)
    return shownOf(found)
  },
})

export const approve = operation({
  ...deciding,
  verb: 'approve',
  says: 'Approve a proposal: it is done now, within the bounds of planners.',
  request: 'an approval',
  show: ({ id, schedule, wants, outranked }) =>
    `approved ${id}: ${schedule} ${wants}${outranked === true ? '; it waits, because a hint of a higher rank outranks it' : ''}`,
  run: (context, { id }) => decided(context, id, 'approved'),
})

export const decline = operation({
  ...deciding,
  verb: 'decline',
  says: 'Decline a proposal.',
  request: 'a refusal',
  show: ({ id, schedule }) => `declined ${id} of ${schedule}`,
  run: (context, { id }) => decided(context, id, 'declined'),
})

function absent(id: string): BelfryError {
  return new BelfryError('not-found', `There is no proposal ${quoted(id)}.`, {
    hint: 'List proposals with `belfry proposal list --all`.',
    details: { id },
  })
}

const overHints = {
  expired: 'It expired an hour after it was made. The planner looks again by itself, or `belfry planner look NAME`.',
  superseded: 'A person has changed, paused or hinted its schedule since. The planner looks again by itself.',
  replaced: 'A newer proposal of the same schedule replaced it: `belfry proposal list`.',
  approved: 'It was approved before.',
  declined: 'It was declined before.',
  open: '',
} as const

async function decided(
  { store, actor }: OperationContext,
  id: string,
  decision: 'approved' | 'declined',
): Promise<Shown> {
  const answer = await store.do(decideProposal, id, { decision, actor })
  switch (answer.answer) {
    case 'decided':
      return { ...shownOf(answer.proposal), ...(answer.outranked && { outranked: true }) }
    case 'not-found':
      throw absent(id)
    case 'passed':
      throw new BelfryError('conflict', `The instant that proposal ${id} asks for has passed.`, {
        hint: 'Run the schedule now with `belfry schedule run`, or wait for the next look.',
        details: { id },
      })
    case 'over':
      throw new BelfryError('conflict', `Proposal ${id} is ${answer.proposal.state}.`, {
        hint: overHints[answer.proposal.state],
        details: { id, state: answer.proposal.state },
      })
    case 'refused':
      throw new BelfryError('conflict', `Proposal ${id} is not possible any more: ${answer.refusal.why}.`, {
        details: { id },
      })
  }
}
