import { createHash, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentState } from '../../core/agent/agent-state.ts'
import { interruptedSession } from '../../core/agent/interrupted-session.ts'
import { originatedPrompt, payloadText } from '../../core/agent/prompt-origin.ts'
import type { WorkspaceEnd } from '../../core/agent/workspace-kept.ts'
import { BelfryError } from '../../core/error.ts'
import type { Target } from '../../core/target.ts'
import type { Attempt, Ended, Execute, StopReason } from '../../targets/attempt.ts'
import { environmentOf } from '../../targets/command/environment.ts'
import { type Program, startProblem } from '../../targets/command/start-problem.ts'
import { type Started, start } from '../../targets/command/start-program.ts'
import { Tether } from '../../targets/command/tether.ts'
import type { ExecutorHost, KindExecutor } from '../../targets/kind.ts'
import { killAfterVariable } from '../../targets/process-group.ts'
import { redact } from '../../targets/redact.ts'
import type { Secret } from '../../targets/secret.ts'
import { commandOf } from './agent-command.ts'
import { endedBy, isMissingSession, keptFacts } from './agent-end.ts'
import { type AgentEnd, followed } from './agent-process.ts'
import { type AgentTarget, agentProblems } from './agent-target.ts'
import { earlierAttempts, type KeptFacts, keepAttempt } from './attempt-rows.ts'
import { turnNote } from './children/loop-turns.ts'
import { keepRunToken, newRunToken } from './children/run-token.ts'
import { projectRoot } from './inbox/project-root.ts'
import { checkSource, isProgramThere, ProfileCache } from './profile-cache.ts'
import { estimateIn } from './profile-estimate.ts'
import type { AgentProfile } from './profile-form.ts'
import { promptIn } from './prompt-file.ts'
import { type RunOriginNames, runOrigin } from './run-origin.ts'
import { type RunBefore, runBefore } from './tasks/run-before.ts'
import { type StartedInTerminal, startInTerminal } from './terminal/start-in-terminal.ts'
import { tmuxSocket } from './terminal/tmux.ts'
import { openWorktree, type Workspace } from './workspace/open-workspace.ts'
import { runSetup } from './workspace/run-setup.ts'

type Host = Pick<ExecutorHost, 'store' | 'secrets' | 'serverUrl'>

/** Executes prompts. The executor announces the profiles whose programs this machine has. */
export async function agentExecutor({ store, secrets, serverUrl }: Host): Promise<KindExecutor> {
  const profiles = new ProfileCache(store)
  const tether = new Tether()
  const named = new Map<string, Execute>()
  const execute: Execute = async (attempt) => {
    const startedMs = attempt.clock.monotonic()
    try {
      const call = await AgentRun.of(attempt, { store, secrets, tether, profiles, ...(serverUrl && { serverUrl }) })
      return await call.carryOut(startedMs)
    } catch (error) {
      // Nothing has begun, so a retry is harmless; meanwhile a person may add the program, the secret or the prompt.
      if (!(error instanceof BelfryError)) throw error
      return { facts: { error: error.message, retryable: error.code !== 'invalid' } }
    }
  }
  const refresh = async () => {
    for (const [name, { profile }] of await profiles.all()) {
      if (await isProgramThere(profile, process.env)) named.set(name, execute)
      else named.delete(name)
    }
    for (const name of named.keys()) if (!profiles.known.has(name)) named.delete(name)
  }
  await refresh()
  const profileOf = (target: Target) => profiles.known.get((target as unknown as AgentTarget).agent.profile)?.profile
  return {
    named,
    refresh,
    timeoutMsOf: (target) => profileOf(target)?.timeoutMs,
    estimateOf: (target) => estimateIn(profileOf(target)),
  }
}

interface Around extends Host {
  readonly tether: Tether
  readonly profiles: ProfileCache
}

/** One attempt of a prompt. It starts a second process only if the session to continue does not exist any more. */
class AgentRun {
  readonly #attempt: Attempt
  readonly #around: Around
  readonly #profile: AgentProfile
  readonly #target: AgentTarget
  readonly #prompt: string
  /** The session, once it is known, and the other facts seen of the agent. */
  #session: string | null = null
  #seen: Pick<KeptFacts, 'state' | 'terminal'> = {}
  #kept: Promise<unknown> = Promise.resolve()

  private constructor(attempt: Attempt, around: Around, profile: AgentProfile, prompt: string) {
    this.#attempt = attempt
    this.#around = around
    this.#profile = profile
    this.#target = attempt.target as unknown as AgentTarget
    this.#prompt = prompt
  }

  static async of(attempt: Attempt, around: Around): Promise<AgentRun> {
    const known = await around.profiles.all()
    // The target was validated when it was written, but perhaps by a version with other rules. Its profile may have been removed since.
    const [wrong] = agentProblems(attempt.target, known)
    if (wrong !== undefined) {
      throw new BelfryError('invalid', `The target's ${wrong.field} ${wrong.problem}; it needs ${wrong.expected}.`)
    }
    const { agent } = attempt.target as unknown as AgentTarget
    const { profile } = known.get(agent.profile) as { profile: AgentProfile }
    const prompt = agent.prompt ?? (await promptIn(agent.promptFile ?? ''))
    return new AgentRun(attempt, around, profile, prompt)
  }

  async carryOut(startedMs: number): Promise<Ended> {
    const interrupted = await this.#interrupted()
    const surroundings = await this.#surroundings()
    const workspace = await this.#workspace(interrupted !== null)
    let end: WorkspaceEnd = 'failed'
    try {
      const session = workspace.isContinued ? interrupted : null
      if (session !== interrupted)
        this.#note('the worktree of its session is not on this machine; this attempt starts fresh')
      const around = { ...surroundings, cwd: workspace.cwd, isInterrupted: session !== null }
      const ended = await this.#answered(around, session ?? (await this.#sessionBefore()), startedMs)
      end = workspaceEnd(ended, this.#attempt.signal)
      return ended
    } finally {
      // If the store does not answer, the row still says that the worktree is in use, and `workspace prune` checks it later.
      await workspace.leave(end).catch(() => undefined)
    }
  }

  /** Only the program can report that a session does not exist any more. */
  async #answered(around: Surroundings, session: string | null, startedMs: number): Promise<Ended> {
    if (!around.isInterrupted) await this.#setUp(around)
    let end = await this.#played(around, session)
    let isResumed = session !== null
    if (session !== null && isMissingSession(end, this.#profile) && !this.#attempt.signal.aborted) {
      this.#note(`session ${session} is gone; this attempt starts fresh`)
      end = await this.#played(around, null)
      isResumed = false
    }
    await this.#kept
    const facts = { ...keptFacts(end.reader.facts, this.#profile), ...(isResumed && { resumed: true }) }
    this.#session = end.reader.facts.sessionId ?? end.session
    await this.#keep(facts)
    const durationMs = Math.round(this.#attempt.clock.monotonic() - startedMs)
    return endedBy(end, { profile: this.#profile, isResumed, durationMs })
  }

  #note(what: string): void {
    this.#attempt.output(`[belfry: ${what}]\n`)
  }

  async #surroundings(): Promise<Omit<Surroundings, 'cwd' | 'isInterrupted'>> {
    const { store, secrets: resolver } = this.#around
    const { scheduleId } = this.#attempt
    const origin = await store.look(runOrigin, scheduleId)
    const { value, secrets } = await resolver.resolve({ ...this.#profile.env, ...this.#target.env })
    const environment = {
      ...environmentOf(this.#attempt, { ...(value as Record<string, string>) }, process.env),
      BELFRY_NAMESPACE: store.namespace,
      [killAfterVariable]: String(this.#profile.killAfterMs),
      ...(origin.schedule !== undefined && { BELFRY_SCHEDULE: origin.schedule }),
      ...(origin.task !== undefined && { BELFRY_TASK: origin.task }),
      ...(await this.#access()),
    }
    const lastAnswer = this.#target.agent.context === 'last' ? (await this.#runBefore())?.answer : null
    const note = scheduleId === null ? null : await store.look(turnNote, scheduleId)
    const { BELFRY_TOKEN: ownToken } = environment
    const token = ownToken === undefined ? [] : [{ name: 'BELFRY_TOKEN', value: ownToken }]
    return { origin: { ...origin, lastAnswer, note }, environment, secrets: [...secrets, ...token] }
  }

  /** A token for this attempt only, and the server that accepts it. The attempt of a live check belongs to no run, so it gets no token. */
  async #access(): Promise<{ readonly BELFRY_TOKEN?: string; readonly BELFRY_SERVER?: string }> {
    const { store, serverUrl } = this.#around
    if (this.#attempt.source === checkSource) return {}
    const { token, hash } = newRunToken(this.#attempt)
    const project = projectRoot(this.#target.cwd ?? this.#profile.cwd ?? process.cwd())
    const kept = await store.do(keepRunToken, this.#attempt, { hash, project, profile: this.#profile.name })
    if (kept === 'lease-lost') throw new BelfryError('unavailable', 'Its lease was lost before it began.')
    const server = serverUrl?.() ?? process.env.BELFRY_SERVER
    return { BELFRY_TOKEN: token, ...(server !== undefined && server !== '' && { BELFRY_SERVER: server }) }
  }

  async #workspace(isResumed: boolean): Promise<Workspace> {
    const { agent, cwd = this.#profile.cwd ?? process.cwd() } = this.#target
    const { workspace = this.#profile.workspace, ref, keep } = agent
    if (workspace !== 'worktree') return { cwd, isContinued: true, leave: async () => undefined }
    return openWorktree(this.#around.store, this.#attempt, { cwd, ref, keep, isResumed })
  }

  async #setUp({ cwd, environment, secrets }: Surroundings): Promise<void> {
    const command = this.#target.agent.setup ?? this.#profile.setup
    if (command === undefined) return
    const { killAfterMs } = this.#profile
    const { tether } = this.#around
    await runSetup({ attempt: this.#attempt, command, around: { cwd, environment }, secrets, tether, killAfterMs })
  }

  /** The session that this attempt continues. */
  async #interrupted(): Promise<string | null> {
    const { runId, fence } = this.#attempt
    if (fence === 1 || this.#profile.resume === undefined || this.#target.agent.resume === 'never') return null
    return interruptedSession(await this.#around.store.look(earlierAttempts, { runId, fence }), this.#profile.name)
  }

  /** The session of the previous run, if the task continues it. */
  async #sessionBefore(): Promise<string | null> {
    if (this.#target.agent.context !== 'session' || this.#profile.resume === undefined) return null
    const before = await this.#runBefore()
    return before?.profile === this.#profile.name ? before.sessionId : null
  }

  async #runBefore(): Promise<RunBefore | null> {
    const { scheduleId, runId } = this.#attempt
    return scheduleId === null ? null : this.#around.store.look(runBefore, scheduleId, runId)
  }

  async #played(around: Surroundings, resumed: string | null): Promise<AgentEnd & { readonly session: string | null }> {
    const { runId, plannedAt, payload } = this.#attempt
    const profile = this.#profile
    const session = resumed ?? (profile.session === undefined ? undefined : randomUUID())
    const isResumed = resumed !== null
    const handed = { payload: payloadText(payload, runId), isResumed: isResumed && around.isInterrupted }
    const prompt = originatedPrompt(this.#prompt, { runId, ...around.origin, plannedAt, ...handed })
    const promptFile = profile.prompt === 'file' ? await writtenPrompt(prompt) : null
    try {
      const { model } = this.#target.agent
      const argv = commandOf(profile, { prompt, promptFile, model, session, isResumed })
      const input = profile.prompt === 'stdin' ? prompt : null
      const started = await this.#begun(
        { argv, ...around },
        { input, around, session: isResumed ? undefined : session },
      )
      const end = await this.#followed(started, around, (sessionId) => {
        this.#session = sessionId
        if (sessionId !== session || isResumed) this.#kept = this.#keep({})
      })
      return { ...end, session: session ?? null }
    } finally {
      if (promptFile !== null) await rm(promptFile, { force: true })
    }
  }

  async #begun(program: Program, { input: given, around, session }: Beginning): Promise<Started> {
    const problem = await startProblem(program)
    if (problem !== null) throw new BelfryError('unavailable', redact(problem, around.secrets))
    if (this.#attempt.signal.aborted) throw new BelfryError('unavailable', 'It was stopped before it began.')
    // Stored before the agent begins: even if this worker dies, the next attempt can continue the session.
    this.#session = session ?? null
    if (session !== undefined) await this.#keep({})
    const { store, tether } = this.#around
    const input = { program, input: given, tether, killAfterMs: this.#profile.killAfterMs }
    if (!this.#isTerminal) return start(input)
    const started = await startInTerminal({ ...input, socket: await tmuxSocket(store), runId: this.#attempt.runId })
    this.#seen = { ...this.#seen, terminal: { machine: hostname(), ...started.terminal } }
    await this.#keep({})
    return started
  }

  get #isTerminal(): boolean {
    return (this.#target.agent.terminal ?? this.#profile.terminal) === 'tmux'
  }

  async #followed(
    started: Started & Partial<StartedInTerminal>,
    { secrets }: Surroundings,
    named: (sessionId: string) => void,
  ): Promise<AgentEnd> {
    const isRaw = this.#target.agent.output === 'raw'
    const how = { isRaw, isTerminal: this.#isTerminal, named, does: (state: AgentState) => this.#does(state) }
    try {
      return await followed({ attempt: this.#attempt, started, secrets, profile: this.#profile, ...how })
    } finally {
      this.#around.tether.letGo(started.group.id)
      await started.close?.()
    }
  }

  /** Each change of state is a write, so only changes to or from `question` and `waiting` are written at once. */
  #does(state: AgentState): void {
    const isRemarkable = [this.#seen.state, state].some((each) => each === 'question' || each === 'waiting')
    this.#seen = { ...this.#seen, state }
    if (isRemarkable) this.#kept = this.#kept.then(() => this.#keep({}))
  }

  /** A write that fails now is repeated at the end of the attempt. */
  async #keep(facts: object): Promise<void> {
    const { runId, fence } = this.#attempt
    const { name: profile, hash: profileVersion } = this.#profile
    const promptHash = createHash('sha256').update(this.#prompt).digest('hex').slice(0, 12)
    const kept = { profile, sessionId: this.#session, facts: { profileVersion, promptHash, ...this.#seen, ...facts } }
    await this.#around.store.do(keepAttempt, { runId, fence }, kept).catch(() => undefined)
  }
}

/** The environment in which an attempt runs its program. */
interface Surroundings extends Omit<Program, 'argv'> {
  readonly secrets: readonly Secret[]
  /** The names for the line above the prompt, and the answer of the previous run. */
  readonly origin: RunOriginNames & { readonly lastAnswer: string | null | undefined; readonly note: string | null }
  /** Whether the session to continue was interrupted. */
  readonly isInterrupted: boolean
}

interface Beginning {
  readonly input: string | null
  readonly around: Surroundings
  /** The id of a new session. */
  readonly session: string | undefined
}

/** Stop reasons after which the run continues later, where it stopped. */
const interrupting: readonly unknown[] = ['shutdown', 'release', 'lease-lost'] satisfies StopReason[]

function workspaceEnd({ facts }: Ended, signal: AbortSignal): WorkspaceEnd {
  const isInterrupted = facts.rateLimited !== undefined || (signal.aborted && interrupting.includes(signal.reason))
  if (isInterrupted) return 'interrupted'
  return facts.error === undefined && !signal.aborted ? 'succeeded' : 'failed'
}

async function writtenPrompt(prompt: string): Promise<string> {
  const path = join(tmpdir(), `belfry-prompt-${randomUUID()}`)
  await writeFile(path, prompt, { flag: 'wx', mode: 0o600 })
  return path
}
