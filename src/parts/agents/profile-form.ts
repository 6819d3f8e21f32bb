import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AgentState, agentStates } from '../../core/agent/agent-state.ts'
import {
  patternProblems,
  proofs,
  type ReadName,
  readNames,
  type TranscriptProfile,
  transcriptProblems,
} from '../../core/agent/profile.ts'
import { DurationError, parseDuration } from '../../core/duration.ts'
import { read } from '../../operations/input/read-input.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { commandTargetProblems, resolveCommandTarget } from '../../targets/command/command-target.ts'
import { killAfterMsMax } from '../../targets/process-group.ts'
import { valueForm } from '../../targets/secret-schema.ts'

const duration = noted(z.string().refine(isDuration), { expected: 'a duration such as 30s, 2m or 1h' })
const argument = z.string().max(4_000)
const words = z.array(argument).min(1).max(100).readonly()
const patterns = z.array(z.string().min(1)).max(20).readonly()
const plain = z.union([z.string(), z.number(), z.boolean(), z.null()])
const rule = z.strictObject({
  when: z.record(z.string(), z.union([plain, z.array(plain).min(1).readonly()])).optional(),
  at: z.union([z.string(), z.array(z.string()).min(1).readonly()]).optional(),
  minus: z.string().optional(),
  starts: z.string().min(1).optional(),
  word: z.string().min(1).optional(),
  sum: z.literal(true).optional(),
  join: z.literal(true).optional(),
  share: z.string().optional(),
  reset: z.string().optional(),
  unit: z.enum(['s', 'ms']).optional(),
})
const rules = z.union([rule, z.array(rule).min(1).max(20).readonly()])
const price = z.strictObject({ in: z.number().min(0), out: z.number().min(0), cached: z.number().min(0).optional() })

function rulesBy<Name extends string>(names: readonly Name[]) {
  const entries = names.map((name) => [name, rules.optional()] as const)
  return Object.fromEntries(entries) as Record<Name, z.ZodOptional<typeof rules>>
}

type StatePatterns = Record<AgentState, z.ZodOptional<typeof patterns>>

/** A profile as a config file writes it. Fields that it leaves out come from the profile that it extends. */
const form = z.strictObject({
  extends: z.string().min(1).describe('The profile that it extends. Default: the shipped one of its name.').optional(),
  argv: words
    .describe('The program and its arguments, with {prompt}, {model}, {session} and {resume} where they go.')
    .optional(),
  program: argument.min(1).describe('The program in place of the first word of argv.').optional(),
  prompt: z.enum(['stdin', 'argument', 'file']).describe('How the prompt is handed over. Default: stdin.').optional(),
  model: words.describe('Arguments that choose a model.').optional(),
  session: words.describe('Arguments that give a new session its id, which is a UUID.').optional(),
  resume: words.describe('Arguments that continue a session. Without them it is not continued.').optional(),
  missing: patterns.describe('How the program says that it does not know a session.').optional(),
  env: z.record(z.string(), valueForm).describe('Environment variables; secrets by their names.').optional(),
  cwd: z.string().min(1).describe('The folder it runs in, where the target names none.').optional(),
  timeout: duration.describe('How long an attempt may take. Default: 1h.').optional(),
  linger: duration.describe('How long it may stay after its final message. Default: 30s.').optional(),
  killAfter: noted(
    z.string().refine((text) => isDuration(text) && parseDuration(text) <= killAfterMsMax),
    {
      expected: 'a duration of at most 15s',
    },
  )
    .describe('How long it has after TERM before it is killed. Default: 15s.')
    .optional(),
  stream: z.enum(['jsonl', 'json', 'text']).describe('What it prints.').optional(),
  read: z.strictObject(rulesBy<ReadName>(readNames)).describe('Where facts stand in what it prints.').optional(),
  verdict: z
    .strictObject({ ...rulesBy(proofs), exits: z.record(z.string().regex(/^\d{1,3}$/), z.enum(proofs)).optional() })
    .describe('What proves a wrong set-up, a spent limit of turns or money, or an error.')
    .optional(),
  limits: rules.describe('How the provider refuses by its limit.').optional(),
  denials: z.enum(['fail', 'ignore']).describe('Whether denied tools fail an attempt. Default: fail.').optional(),
  stall: z
    .strictObject({ start: duration.optional(), asks: patterns.optional(), silence: duration.optional() })
    .describe('When it counts as stalled: without a first line, or silent behind a question.')
    .optional(),
  states: z
    .strictObject(Object.fromEntries(agentStates.map((state) => [state, patterns.optional()])) as StatePatterns)
    .describe('How the end of what it prints shows what it is doing.')
    .optional(),
  prices: z.record(z.string(), price).describe('The price of a million tokens by model, or by *.').optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .describe('The currency of cost and prices. Default: USD.')
    .optional(),
  estimate: z
    .strictObject({
      tokens: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
      money: z
        .string()
        .regex(/^\d+(\.\d{1,6})?[A-Z]{3}$/)
        .optional(),
      runtime: duration.optional(),
    })
    .describe('What a run is expected to use, such as money: 0.50USD: a budget reserves it until it knows such runs.')
    .optional(),
  account: z.string().min(1).max(200).describe('The account whose limit it uses.').optional(),
  mayUse: z
    .enum(['admin', 'operate', 'self'])
    .describe('The scope that a task with it needs; self: only its own agent, and admins. Default: admin.')
    .optional(),
  workspace: z
    .enum(['shared', 'worktree'])
    .describe('Whether it works in cwd itself, or in a git worktree of its own. Default: shared.')
    .optional(),
  setup: z
    .union([argument.min(1), words])
    .describe('A command that prepares the workspace.')
    .optional(),
  terminal: z.enum(['none', 'tmux']).describe('Whether it runs in a terminal. Default: none.').optional(),
  version: words.describe('Arguments that print its version. Default: --version.').optional(),
  install: z.string().describe('How to get the program.').optional(),
})
export type ProfileSpec = z.output<typeof form>
type Form = z.input<typeof form>

/** A profile, completed by everything that it extends. */
export interface AgentProfile
  extends TranscriptProfile,
    Omit<ProfileSpec, keyof TranscriptProfile | 'extends' | 'program' | 'timeout' | 'linger' | 'killAfter' | 'stall'> {
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  readonly prompt: 'stdin' | 'argument' | 'file'
  readonly lingerMs: number
  readonly killAfterMs: number
  readonly timeoutMs?: number
  readonly stall: { readonly startMs?: number; readonly asks: readonly string[]; readonly silenceMs: number }
  /** A hash of the complete profile. */
  readonly hash: string
}

export interface ReadProfile {
  readonly spec: ProfileSpec
  readonly profile: AgentProfile | null
  readonly problems: readonly Problem[]
}

/** Reads a profile on top of the one that it extends. An invalid profile is refused whole, with every problem. */
export function readProfile(
  name: string,
  given: unknown,
  { base, folder }: { base: ProfileSpec | undefined; folder: string },
): ReadProfile {
  const { value, problems: found } = read(form, given ?? {}, 'a profile')
  const spec = resolved(value as Form, folder) as ProfileSpec
  const whole = merged(base ?? {}, spec)
  const problems: Problem[] = [...found]
  const needed = { argv: 'a program and its arguments', stream: 'jsonl, json or text' } as const
  for (const [field, expected] of Object.entries(needed)) {
    const isGiven = whole[field as keyof typeof needed] !== undefined || found.some((each) => each.field === field)
    if (!isGiven) problems.push({ field, problem: 'is missing', expected })
  }
  problems.push(...profileProblems(whole).filter(({ field }) => !problems.some((each) => each.field === field)))
  return { spec, profile: problems.length === 0 ? profileOf(name, whole) : null, problems }
}

function profileProblems(spec: ProfileSpec): Problem[] {
  const { argv = [], program, cwd, env, missing, stall, states } = spec
  const words = argv.length === 0 ? ['true'] : argv
  const command = program === undefined ? words : [program, ...words.slice(1)]
  const target = { command, ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) }
  const ofProgram = commandTargetProblems(target).map(({ field, ...rest }) => ({
    ...rest,
    field: program !== undefined && field === 'command[0]' ? 'program' : field.replace(/^command/, 'argv'),
  }))
  return [
    ...ofProgram,
    ...transcriptProblems({ ...spec, stream: spec.stream ?? 'text', read: spec.read ?? {} }),
    ...patternProblems('missing', missing),
    ...patternProblems('stall.asks', stall?.asks),
    ...agentStates.flatMap((state) => patternProblems(`states.${state}`, states?.[state])),
  ]
}

/** Relative paths are relative to the folder of the file. */
function resolved({ argv, program, cwd, ...rest }: Form, folder: string): Form {
  const command = program === undefined ? argv : [program]
  const target = resolveCommandTarget(
    { ...(command !== undefined && { command }), ...(cwd !== undefined && { cwd }) },
    folder,
  )
  const [first = '', ...others] = (target.command ?? []) as string[]
  return {
    ...rest,
    ...(argv !== undefined && { argv: program === undefined ? [first, ...others] : argv }),
    ...(program !== undefined && { program: first }),
    ...(cwd !== undefined && { cwd: target.cwd as string }),
  }
}

/** Records are merged by name, so that a profile can add a variable without repeating the others. */
const byName = ['env', 'prices', 'stall', 'states', 'read', 'verdict'] as const

function merged(base: ProfileSpec, spec: ProfileSpec): ProfileSpec {
  // Rules for one stream do not fit another, so a profile with another stream does not inherit them.
  const isOther = spec.stream !== undefined && base.stream !== undefined && spec.stream !== base.stream
  const { read: _, verdict: __, limits: ___, ...rest } = base
  const kept: ProfileSpec = isOther ? rest : base
  const both = byName.flatMap((field) => {
    const isGiven = kept[field] !== undefined || spec[field] !== undefined
    return isGiven ? [[field, { ...kept[field], ...spec[field] }] as const] : []
  })
  return { ...kept, ...spec, ...Object.fromEntries(both) }
}

function profileOf(name: string, spec: ProfileSpec): AgentProfile {
  const { extends: _, program, timeout, linger = '30s', killAfter = '15s', stall = {}, argv = [], ...rest } = spec
  const [first = '', ...others] = argv
  return {
    ...rest,
    name,
    argv: [program ?? first, ...others],
    prompt: rest.prompt ?? 'stdin',
    stream: rest.stream ?? 'text',
    read: rest.read ?? {},
    lingerMs: parseDuration(linger),
    killAfterMs: parseDuration(killAfter),
    ...(timeout !== undefined && { timeoutMs: parseDuration(timeout) }),
    stall: {
      asks: stall.asks ?? [],
      silenceMs: parseDuration(stall.silence ?? '5s'),
      ...(stall.start !== undefined && { startMs: parseDuration(stall.start) }),
    },
    hash: createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 12),
  }
}

function isDuration(text: string): boolean {
  try {
    return parseDuration(text) > 0
  } catch (error) {
    if (error instanceof DurationError) return false
    throw error
  }
}
