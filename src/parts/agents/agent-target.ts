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
    /** What the agent gets of the previous run: nothing, its answer, or its session. */
    readonly context?: 'fresh' | 'last' | 'session' | undefined
    /** Whether an attempt continues the session of an interrupted attempt. */
    readonly resume?: 'interrupted' | 'never' | undefined
    /** What the run keeps as output: readable text, or the agent's output unchanged. */
    readonly output?: 'text' | 'raw' | undefined
    /** Whether the agent works in `cwd` itself, or in its own worktree. */
    readonly workspace?: 'shared' | 'worktree' | undefined
    /** The commit that a worktree starts from. */
    readonly ref?: string | undefined
    /** When a worktree is kept after its attempt. */
    readonly keep?: Keep | undefined
    /** A command that prepares the workspace. */
    readonly setup?: string | readonly string[] | undefined
    /** Whether the agent runs in a terminal that people can attach to. */
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
/** The fields of an agent besides its profile and prompt. */
export const furtherFields = ['promptFile', 'model', ...Object.keys(choices), 'ref', 'setup']
const fields = ['profile', 'prompt', ...furtherFields]
/** A secret reference written into the text, or a Belfry token. */
const secretInText = /\{\s*["']?secret["']?\s*:|\bbelfry_[0-9a-z.-]+_[0-9a-f]{64}\b/

/** The problems of an agent target. The name of its profile is checked only where the profiles are known. */
export function agentProblems(target: Target, known?: ReadonlyMap<string, KnownProfile>): TargetProblem[] {
  const { agent, lane: _, ...beside } = target
  // `true` is a placeholder for the program: the folder and the environment follow the rules of a command target.
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

/** Checked when the target is written: at run time the agent would start from nothing without a warning. */
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

/** The folder that agents share, as the concurrency key that lets one agent at a time work there. */
export function checkoutKey(target: AgentTarget, profile: AgentProfile | undefined): string | undefined {
  const { agent, cwd = profile?.cwd } = target
  const isShared = (agent.workspace ?? profile?.workspace ?? 'shared') === 'shared'
  if (!isShared || cwd === undefined) return undefined
  try {
    return realpathSync(cwd)
  } catch {
    // The folder is on the workers' machines, not here.
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

/** Why a prompt of this size is refused. */
export function tooLong(bytes: number): [problem: string, expected: string] {
  return [
    `has ${bytes} bytes`,
    `a text of at most ${promptBytesMax / 1024} KB; put the rest into a file that the agent reads`,
  ]
}

/** Why a text is not a valid prompt, and what is expected. A prompt file is checked when a worker reads it. */
export function promptProblem(prompt: unknown): [problem: string, expected: string] | null {
  const expected = `a text of at most ${promptBytesMax / 1024} KB`
  if (isSecretReference(prompt) || (typeof prompt === 'string' && secretInText.test(prompt))) {
    return ['holds a secret', 'a text without it: an agent may repeat it to anybody. Give the secret by name in env']
  }
  if (typeof prompt !== 'string') return [`is ${shown(prompt)}`, expected]
  if (prompt.trim() === '') return ['is empty', expected]
  const bytes = Buffer.byteLength(prompt)
  if (bytes > promptBytesMax) return tooLong(bytes)
  if (prompt.includes('\0')) return [`has a NUL character at position ${prompt.indexOf('\0')}`, 'a text without it']
  return prompt.isWellFormed() ? null : ['has half of a surrogate pair', 'well-formed Unicode']
}

/** Makes paths absolute while the folder that they are relative to is known. */
export function resolveAgent(target: Target, folder: string): Target {
  const { agent, cwd } = target
  const promptFile = isRecord(agent) ? agent.promptFile : undefined
  return {
    ...target,
    ...(isRelative(cwd) && { cwd: resolve(folder, cwd) }),
    ...(isRecord(agent) && isRelative(promptFile) && { agent: { ...agent, promptFile: resolve(folder, promptFile) } }),
  }
}

/** The files that the target names in this folder and that do not exist, and a prompt file here that is too long. */
export function absentOfAgent({ agent, ...beside }: Target, folder: string): TargetProblem[] {
  const promptFile = isRecord(agent) ? agent.promptFile : undefined
  const found = absentPaths(beside, folder)
  if (typeof promptFile !== 'string' || promptFile === '' || promptFile.includes('\0')) return found
  const stats = statSync(resolve(folder, promptFile), { throwIfNoEntry: false })
  if (stats?.isFile() === true && stats.size > promptBytesMax) {
    const [problem, expected] = tooLong(stats.size)
    return [...found, problemAt('agent.promptFile', `names ${JSON.stringify(promptFile)}, which ${problem}`, expected)]
  }
  if (stats?.isFile() === true || !isRelative(promptFile)) return found
  const problem = `names ${JSON.stringify(promptFile)}, which is no file in ${folder}`
  return [...found, problemAt('agent.promptFile', problem, 'a text file, or an absolute path on the workers’ machines')]
}

function isRelative(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path)
}
