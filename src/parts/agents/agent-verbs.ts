import { z } from 'zod'
import { name } from '../../operations/fields/basic-fields.ts'
import { absent } from '../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { flag, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import type { AgentProfile } from './profile-form.ts'
import { type KnownProfile, knownProfiles } from './profiles.ts'
import { checkShown, profileShown, profilesShown } from './show.ts'

const line = {
  name: text('The name of the profile.'),
  program: text('The program that it starts.'),
  stream: z.enum(['jsonl', 'json', 'text']).describe('What the program prints.'),
  resume: flag('Whether an interrupted session can be continued.'),
  usage: flag('Whether tokens are read.'),
  cost: flag('Whether cost is read, or computed by prices.'),
  managedBy: text('The config file that changes it; null: it is as shipped.').nullable(),
}
export const profileLine = noted(z.strictObject(line), { id: 'AgentProfile' })
export type ProfileLine = z.output<typeof profileLine>

export const profileWhole = z.strictObject({
  ...line,
  profile: z.record(z.string(), z.unknown()).describe('The whole profile, with what it extends.'),
})
export type ProfileWhole = z.output<typeof profileWhole>

const seen = z.strictObject({
  answered: flag('Whether it answered.'),
  error: text('Why not.').exactOptional(),
  read: z.array(z.string()).describe('What the profile reads, and was found.'),
  unread: z.array(z.string()).describe('What the profile reads, and was not there.'),
})
export const checked = z.strictObject({
  ...line,
  found: flag('Whether the program can be started here.'),
  version: text('The first line that it prints about its version.').nullable(),
  problem: text('Why it cannot be started, and how to get it.').nullable(),
  live: seen.describe('What came of a tiny prompt.').exactOptional(),
})
export type Checked = z.output<typeof checked>

const common = { noun: 'agent', scope: 'read', effect: 'read', doors: everyDoor } as const
const named = z.strictObject({ name: name.describe('The name of the profile.') })

const list = operation({
  ...common,
  verb: 'list',
  method: 'GET',
  says: 'List the profiles of agents: those that are shipped, and those of config files.',
  request: 'a list of profiles',
  input: z.strictObject({}),
  takes: [],
  output: z.array(profileLine),
  errors: ['invalid'],
  show: profilesShown,
  examples: [{}],
  run: async ({ store }) => [...(await knownProfiles(store))].map(([, known]) => lineOf(known)),
})

const get = operation({
  ...common,
  verb: 'get',
  method: 'GET',
  command: ['agent', 'show'],
  says: 'Show a profile: how the program is called, and how its output is read.',
  request: 'a request for a profile',
  input: named,
  takes: ['name'],
  output: profileWhole,
  errors: ['invalid', 'not-found'],
  show: profileShown,
  examples: [{ name: 'claude' }],
  async run(context, { name: wanted }) {
    const known = await presentProfile(context, wanted)
    return { ...lineOf(known), profile: { ...known.profile } }
  },
})

const here: Doors = {
  ...everyDoor,
  http: 'It looks for a program on the machine of the caller.',
  mcp: 'It starts a program on the machine of the caller.',
}

const check = operation({
  ...common,
  verb: 'check',
  // The verb starts a program.
  effect: 'write',
  scope: 'admin',
  doors: here,
  begins: true,
  // The verb writes to no store, and its answer is about this machine only.
  namesWorkers: true,
  says: 'Check that the program of a profile can be started here, and print its version; with live, send it a tiny prompt and compare what it prints with the profile.',
  request: 'a check of a profile',
  input: named.extend({
    live: z.boolean().describe('Send a tiny prompt, which may cost a little. Default: false.').optional(),
  }),
  takes: ['name'],
  output: checked,
  errors: ['invalid', 'not-found'],
  show: checkShown,
  isOk: ({ found, live }) => found && (live === undefined || (live.answered && live.unread.length === 0)),
  examples: [{ name: 'claude' }, { name: 'claude', live: true }],
  async run(context, { name: wanted, live = false }) {
    const known = await presentProfile(context, wanted)
    const { checkedProgram } = await import('./check-agent.ts')
    return { ...lineOf(known), ...(await checkedProgram(known.profile, { store: context.store, isLive: live })) }
  },
})

export const agentOperations = { list, get, check }

function lineOf({ profile, managedBy }: KnownProfile): ProfileLine {
  const { name: named, argv, stream, resume, read, prices } = profile
  return {
    name: named,
    program: argv[0],
    stream,
    resume: resume !== undefined,
    usage: read.tokensIn !== undefined || read.tokensOut !== undefined,
    cost: read.cost !== undefined || hasPrices(prices),
    managedBy,
  }
}

function hasPrices(prices: AgentProfile['prices']): boolean {
  return Object.keys(prices ?? {}).length > 0
}

async function presentProfile({ store }: OperationContext, wanted: string): Promise<KnownProfile> {
  const known = await knownProfiles(store)
  const found = known.get(wanted)
  if (found === undefined)
    throw absent('profile', wanted, [...known.keys()], `The profiles are ${[...known.keys()].join(', ')}.`)
  return found
}
