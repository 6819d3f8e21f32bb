import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { Keep } from '../../core/agent/workspace-kept.ts'
import { isRecord } from '../../core/json/record.ts'
import type { Target } from '../../core/target.ts'
import { nearest } from '../../operations/input/nearest-name.ts'
import { absentPaths } from '../../targets/command/absent-paths.ts'
import { commandTargetProblems } from '../../targets/command/command-target.ts'
import { isSecretReference, type SecretReference } from '../../targets/secret.ts'
import { problemAt, shown, type TargetProblem, unicodeProblems } from '../../targets/target-problem.ts'
import type { AgentProfile } from './profile-form.ts'
import type { KnownProfile } from './profiles.ts'

/** A target that hands a prompt to an agent. */
export interface AgentTarget {
  readonly agent: {
    readonly profile: string
    readonly prompt?: string | undefined
    readonly promptFile?: string | undefined
    readonly model?: string | undefined
    /** What it knows of the run before it: nothing, its answer, or its session. */
    readonly context?: 'fresh' | 'last' | 'session' | undefined
    /** Whether an attempt continues the session of one that was interrupted. */
    readonly resume?: 'interrupted' | 'never' | undefined
    /** What is kept as output: readable text, or what the agent prints. */
    readonly output?: 'text' | 'raw' | undefined
    /** Whether it works in `cwd` itself, or in a worktree of its own. */
    readonly workspace?: 'shared' | 'worktree' | undefined
    /** The commit that a worktree begins with. */
    readonly ref?: string | undefined
    /** When a worktree outlives its attempt. */
    readonly keep?: Keep | undefined
    /** A command that prepares the workspace. */
    readonly setup?: string | readonly string[] | undefined
    /** Whether it runs in a terminal that people can attach to. */
    readonly terminal?: 'none' | 'tmux' | undefined
  }
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | SecretReference>> | undefined
}

declare module '../../operations/target/target-input.ts' {
  interface PartTargets {
    readonly agent: AgentTarget
  }
}

export const promptBytesMax = 64 * 1024
const nameLengthMax = 200
const choices: Readonly<Record<string, readonly string[]>> = {
  context: ['fresh', 'last', 'session'],
  resume: ['interrupted', 'never'],
  output: ['text', 'raw'],
  workspace: ['shared', 'worktree'],
  keep: ['changed', 'always', 'never'],
  terminal: ['none', 'tmux'],
}
/** The fields of an agent beside its profile and prompt. */
export const furtherFields = ['promptFile', 'model', ...Object.keys(choices), 'ref', 'setup']
const fields = ['profile', 'prompt', ...furtherFields]
/** A reference to a secret that was written into the text, or a token of Belfry. */
const secretInText = /\{\s*["']?secret["']?\s*:|\bbelfry_[0-9a-z.-]+_[0-9a-f]{64}\b/

/** The problems of an agent target, with those of its profile's name where the profiles are known. */
export function agentProblems(target: Target, known?: ReadonlyMap<string, KnownProfile>): TargetProblem[] {
  const { agent, lane: _, ...beside } = target
  // A program for its place: folder and environment follow the same rules as those of a command.
  const besides = commandTargetProblems({ ...beside, command: ['true'] }).map((problem) => ({
    ...problem,
    expected: problem.problem === 'is not known' ? 'only agent, cwd and env' : problem.expected,
  }))
  if (!isRecord(agent))
    return [problemAt('agent', `is ${shown(agent)}`, 'an object with profile and prompt'), ...besides]
  const unknown = Object.keys(agent).filter((field) => !fields.includes(field))
  return [
    ...unknown.map((field) => problemAt(`agent.${field}`, 'is not known', `only ${fields.join(', ')}`)),
    ...profileProblems(agent.profile, known),
    ...promptProblems(agent),
    ...Object.entries(choices).flatMap(([field, allowed]) =>
      agent[field] === undefined || allowed.includes(agent[field] as string)
        ? []
        : [
            problemAt(
              `agent.${field}`,
              `is ${shown(agent[field])}`,
              allowed.join(', ').replace(/, ([^,]*)$/, ' or $1'),
            ),
          ],
    ),
    ...modelProblems(agent, known),
    ...contextProblems(agent, known),
    ...workspaceProblems(agent, beside, known),
    ...besides,
  ]
}

function profileProblems(profile: unknown, known: ReadonlyMap<string, KnownProfile> | undefined): TargetProblem[] {
  const wrong = textProblems('agent.profile', profile, 'the name of a profile, such as claude')
  if (wrong.length > 0 || known === undefined || known.has(profile as string)) return wrong
  const meant = nearest(profile as string, known.keys())
  const expected = meant === undefined ? `one of ${[...known.keys()].join(', ')}` : `${meant}, if that was meant`
  return [problemAt('agent.profile', `is ${JSON.stringify(profile)}, and there is no such profile`, expected)]
}

function modelProblems(
  { profile, model }: Readonly<Record<string, unknown>>,
  known: ReadonlyMap<string, KnownProfile> | undefined,
): TargetProblem[] {
  if (model === undefined) return []
  const found = known?.get(profile as string)?.profile
  if (found === undefined || found.model !== undefined) return textProblems('agent.model', model, 'the name of a model')
  return [
    problemAt('agent.model', `is given, and profile ${found.name} takes none`, 'no model, or a profile with model'),
  ]
}

/** Checked when it is written: later it would begin from nothing without saying so. */
function contextProblems(
  { profile, context }: Readonly<Record<string, unknown>>,
  known: ReadonlyMap<string, KnownProfile> | undefined,
): TargetProblem[] {
  const found = known?.get(profile as string)?.profile
  if (context !== 'session' || found === undefined || found.resume !== undefined) return []
  return [problemAt('agent.context', `is session, and profile ${found.name} continues none`, 'fresh or last')]
}

function workspaceProblems(
  agent: Readonly<Record<string, unknown>>,
  { cwd }: Target,
  known: ReadonlyMap<string, KnownProfile> | undefined,
): TargetProblem[] {
  const { ref, keep, setup } = agent
  const profile = known?.get(agent.profile as string)?.profile
  const workspace = agent.workspace ?? profile?.workspace
  const command = setup === undefined ? [] : commandTargetProblems({ command: setup })
  const isAlone = profile === undefined || workspace === 'worktree'
  const given = Object.entries({ ref, keep }).filter(([, value]) => value !== undefined)
  const stray = isAlone
    ? []
    : given.map(([field]) =>
        problemAt(`agent.${field}`, 'is given without a worktree', '`workspace: worktree` beside it, or leave it out'),
      )
  const nowhere = workspace === 'worktree' && profile !== undefined && (cwd ?? profile.cwd) === undefined
  return [
    ...(ref === undefined ? [] : textProblems('agent.ref', ref, 'the name of a commit, such as main')),
    ...command.map((problem) => ({ ...problem, field: problem.field.replace(/^command/, 'agent.setup') })),
    ...stray,
    ...(nowhere ? [problemAt('cwd', 'is missing', 'the folder of a git checkout, of which the worktree is made')] : []),
  ]
}

/** The folder that agents share, as the key that lets one of them work there at a time. */
export function checkoutKey(target: AgentTarget, profile: AgentProfile | undefined): string | undefined {
  const { agent, cwd = profile?.cwd } = target
  const isShared = (agent.workspace ?? profile?.workspace ?? 'shared') === 'shared'
  if (!isShared || cwd === undefined) return undefined
  try {
    return realpathSync(cwd)
  } catch {
    // It is a folder of the workers' machines.
    return cwd
  }
}

function textProblems(field: string, value: unknown, expected: string): TargetProblem[] {
  if (typeof value !== 'string' || value === '')
    return [problemAt(field, `is ${value === '' ? 'empty' : shown(value)}`, expected)]
  if (value.length > nameLengthMax || value.includes('\0') || value.startsWith('-')) {
    return [problemAt(field, 'has a form that programs misread', `${expected}, of at most ${nameLengthMax} characters`)]
  }
  return unicodeProblems(value, field)
}

function promptProblems({ prompt, promptFile }: Readonly<Record<string, unknown>>): TargetProblem[] {
  if (prompt !== undefined && promptFile !== undefined) {
    return [problemAt('agent.promptFile', 'is given beside prompt', 'only one of the two')]
  }
  if (promptFile !== undefined) {
    const isPath = typeof promptFile === 'string' && isAbsolute(promptFile) && !promptFile.includes('\0')
    return isPath ? [] : [problemAt('agent.promptFile', `is ${shown(promptFile)}`, 'the path of a text file')]
  }
  const wrong = promptProblem(prompt)
  return wrong === null ? [] : [problemAt('agent.prompt', ...wrong)]
}

/** Why a text is no prompt, and what would be. A prompt file is checked when it is read. */
export function promptProblem(prompt: unknown): [problem: string, expected: string] | null {
  const expected = `a text of at most ${promptBytesMax / 1024} KB`
  if (isSecretReference(prompt) || (typeof prompt === 'string' && secretInText.test(prompt))) {
    return ['holds a secret', 'a text without it: an agent may repeat it to anybody. Give the secret by name in env']
  }
  if (typeof prompt !== 'string') return [`is ${shown(prompt)}`, expected]
  if (prompt.trim() === '') return ['is empty', expected]
  const bytes = Buffer.byteLength(prompt)
  if (bytes > promptBytesMax)
    return [`has ${bytes} bytes`, `${expected}; put the rest into a file that the agent reads`]
  if (prompt.includes('\0')) return [`has a NUL character at position ${prompt.indexOf('\0')}`, 'a text without it']
  return prompt.isWellFormed() ? null : ['has half of a surrogate pair', 'well-formed Unicode']
}

/** Makes paths absolute while their base is known. */
export function resolveAgent(target: Target, folder: string): Target {
  const { agent, cwd } = target
  const promptFile = isRecord(agent) ? agent.promptFile : undefined
  return {
    ...target,
    ...(isRelative(cwd) && { cwd: resolve(folder, cwd) }),
    ...(isRecord(agent) && isRelative(promptFile) && { agent: { ...agent, promptFile: resolve(folder, promptFile) } }),
  }
}

/** Files that the target names in this folder, and that do not exist. */
export function absentOfAgent({ agent, ...beside }: Target, folder: string): TargetProblem[] {
  const promptFile = isRecord(agent) ? agent.promptFile : undefined
  const found = absentPaths(beside, folder)
  if (!isRelative(promptFile) || promptFile.includes('\0')) return found
  if (statSync(resolve(folder, promptFile), { throwIfNoEntry: false })?.isFile() === true) return found
  const problem = `names ${JSON.stringify(promptFile)}, which is no file in ${folder}`
  return [...found, problemAt('agent.promptFile', problem, 'a text file, or an absolute path on the workers’ machines')]
}

function isRelative(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path)
}
