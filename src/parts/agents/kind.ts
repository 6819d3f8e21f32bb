import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import type { Target } from '../../core/target.ts'
import { commandKind } from '../../targets/command/kind.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { problemAt, type TargetProblem } from '../../targets/target-problem.ts'
import {
  type AgentTarget,
  absentOfAgent,
  agentProblems,
  checkoutKey,
  furtherFields,
  resolveAgent,
} from './agent-target.ts'
import type { KnownProfile } from './profiles.ts'

/** Kept short, because models read it with every verb that takes a target; docs/agents.md explains the further fields. */
const form = z.strictObject({
  agent: z
    .looseObject({
      profile: z.string().min(1).describe('Such as claude or codex.'),
      prompt: z.string().min(1).describe('At most 64 KB.').optional(),
    })
    .describe(`A prompt for an agent. Also ${furtherFields.join(', ')}.`),
  cwd: z.string().min(1).describe('The folder it runs in.').optional(),
  env: commandKind.form.shape.env as z.ZodType,
})

const shownLengthMax = 80
const killAfterMs = 15_000

const flags: TargetKind['flags'] = [
  {
    flag: '--agent',
    value: '<profile>',
    field: 'agent.profile',
    says: 'An agent, by its profile: claude, codex, gemini, opencode, aider, script, or your own.',
  },
  { flag: '--prompt', value: '<text>', field: 'agent.prompt', says: 'What the agent is to do.' },
  {
    flag: '--prompt-file',
    value: '<path>',
    field: 'agent.promptFile',
    says: 'A file with the prompt, read when a run starts.',
  },
  {
    flag: '--workspace',
    value: '<where>',
    field: 'agent.workspace',
    says: 'Where the agent works: shared, in --cwd itself, or worktree, in a git worktree of its own.',
  },
  { flag: '--ref', value: '<commit>', field: 'agent.ref', says: 'The commit that the worktree begins with.' },
  { flag: '--terminal', value: '<kind>', field: 'agent.terminal', says: 'tmux: the agent runs in a terminal.' },
  { flag: '--model', value: '<name>', field: 'agent.model', says: 'The model that the agent uses.' },
  ...commandKind.flags.filter(({ field }) => field === 'cwd' || field === 'env'),
]

/** Prompts for agents. Each profile is a lane, so that a worker takes only the prompts whose program it has. */
function agentKindOf(known?: ReadonlyMap<string, KnownProfile>, hasTerminals = true): TargetKind {
  return {
    name: 'agent',
    called: 'an agent',
    form,
    problems: (target) => [...agentProblems(target, known), ...(hasTerminals ? [] : terminalProblems(target, known))],
    resolved: resolveAgent,
    absent: absentOfAgent,
    laneOf: (target) => agentOf(target).profile,
    words: (target) => {
      const { profile, prompt, promptFile, model } = agentOf(target)
      const about = prompt === undefined ? `the prompt in ${promptFile}` : JSON.stringify(shortened(prompt))
      return `asks ${profile}${model === undefined ? '' : ` (${model})`} ${about}`
    },
    flags,
    timeoutMs: 3_600_000,
    leaseMs: 300_000,
    stopMs: killAfterMs,
    graceMs: 600_000,
    startsPrograms: true,
    message: 'is an agent, which takes prompts and no messages',
    // An agent that has received a prompt cannot forget it: without its session another attempt would start from nothing.
    repeats: (target) => {
      const { profile, resume } = agentOf(target)
      return resume !== 'never' && known?.get(profile)?.profile.resume !== undefined
    },
    unpriced: (name) => unpriced(known?.get(name)?.profile),
    optionsOf: (target) => {
      const account = known?.get(agentOf(target).profile)?.profile.account
      return account === undefined ? {} : { account: [account] }
    },
    keyOf: (target) => checkoutKey(target as unknown as AgentTarget, known?.get(agentOf(target).profile)?.profile),
    ...(known !== undefined && {
      names: { noun: 'profile', known: [...known.keys()], listedBy: ['agent', 'list'] },
    }),
    serving: (name) =>
      `Install the program of profile ${name} where a worker runs, or set agents.${name}.program to its path: \`belfry agent check ${name}\`.`,
    async inStore(store, declared) {
      const { knownProfiles } = await import('./profiles.ts')
      const { isTmuxHere } = await import('./terminal/tmux.ts')
      const given = declared?.agents as Readonly<Record<string, unknown>> | undefined
      // Only the workers of a store in a file are known to be on this machine.
      return agentKindOf(await knownProfiles(store, given), !isAbsolute(store.place) || (await isTmuxHere()))
    },
    async executor(host) {
      const { agentExecutor } = await import('./agent-executor.ts')
      return agentExecutor(host)
    },
  }
}

export const agentKind: TargetKind = agentKindOf()

function terminalProblems(target: Target, known: ReadonlyMap<string, KnownProfile> | undefined): TargetProblem[] {
  if (!isRecord(target.agent)) return []
  const { terminal, profile } = agentOf(target)
  if ((terminal ?? known?.get(profile)?.profile.terminal) !== 'tmux') return []
  return [
    problemAt('agent.terminal', 'is tmux, which is not installed on this machine', 'tmux in the PATH, or no terminal'),
  ]
}

function unpriced(profile: KnownProfile['profile'] | undefined): string | null {
  if (profile === undefined || profile.prices !== undefined || profile.read.cost !== undefined) return null
  return `profile ${profile.name} reads no cost, and has no prices`
}

function agentOf(target: Target): AgentTarget['agent'] {
  return (target as unknown as AgentTarget).agent
}

function shortened(prompt: string): string {
  const line = prompt.trim().replace(/\s+/g, ' ')
  return line.length > shownLengthMax ? `${line.slice(0, shownLengthMax).toWellFormed()}…` : line
}
