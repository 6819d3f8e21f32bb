import { createHash, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptedSession } from '../../core/agent/interrupted-session.ts'
import { originatedPrompt } from '../../core/agent/prompt-origin.ts'
import { BelfryError } from '../../core/error.ts'
import type { Attempt, Ended, Execute } from '../../targets/attempt.ts'
import { environmentOf } from '../../targets/command/environment.ts'
import { startProblem } from '../../targets/command/start-problem.ts'
import { start } from '../../targets/command/start-program.ts'
import { Tether } from '../../targets/command/tether.ts'
import type { ExecutorHost, KindExecutor } from '../../targets/kind.ts'
import { redact } from '../../targets/redact.ts'
import { commandOf } from './agent-command.ts'
import { endedBy, isMissingSession, keptFacts } from './agent-end.ts'
import { type AgentEnd, followed } from './agent-process.ts'
import { type AgentTarget, agentProblems } from './agent-target.ts'
import { earlierAttempts, keepAttempt } from './attempt-rows.ts'
import { isProgramThere, ProfileCache } from './profile-cache.ts'
import { type AgentProfile, killAfterMsMax } from './profile-form.ts'
import { promptIn } from './prompt-file.ts'
import { runOrigin } from './run-origin.ts'
import { type RunBefore, runBefore } from './tasks/run-before.ts'

type Host = Pick<ExecutorHost, 'store' | 'secrets'>

/** Executes prompts. It announces the profiles whose programs it finds. */
export async function agentExecutor({ store, secrets }: Host): Promise<KindExecutor> {
  const profiles = new ProfileCache(store)
  const tether = new Tether(killAfterMsMax)
  const named = new Map<string, Execute>()
  const execute: Execute = async (attempt) => {
    const startedMs = attempt.clock.monotonic()
    try {
      const call = await AgentRun.of(attempt, { store, secrets, tether, profiles })
      return await call.carryOut(startedMs)
    } catch (error) {
      // Nothing was begun, so a retry does no harm; and a person may bring the program, the secret or the prompt.
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
  return {
    named,
    refresh,
    timeoutMsOf: (target) => profiles.known.get((target as unknown as AgentTarget).agent.profile)?.profile.timeoutMs,
  }
}

interface Around extends Host {
  readonly tether: Tether
  readonly profiles: ProfileCache
}

/** One attempt of a prompt: at most two processes, where the session that it continues is gone. */
class AgentRun {
  readonly #attempt: Attempt
  readonly #around: Around
  readonly #profile: AgentProfile
  readonly #target: AgentTarget
  readonly #prompt: string
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
    // A target was validated when it was written, but perhaps by a version with other rules, or a profile is gone.
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
    const session = interrupted ?? (await this.#sessionBefore())
    let end = await this.#played(session, interrupted !== null)
    let isResumed = session !== null
    if (session !== null && isMissingSession(end, this.#profile) && !this.#attempt.signal.aborted) {
      this.#attempt.output(`[belfry: session ${session} is gone; this attempt starts fresh]\n`)
      end = await this.#played(null, false)
      isResumed = false
    }
    await this.#kept
    const facts = { ...keptFacts(end.reader.facts, this.#profile), ...(isResumed && { resumed: true }) }
    await this.#keep(end.reader.facts.sessionId ?? end.session, facts)
    const durationMs = Math.round(this.#attempt.clock.monotonic() - startedMs)
    return endedBy(end, { profile: this.#profile, isResumed, durationMs })
  }

  /** The session that this attempt continues. */
  async #interrupted(): Promise<string | null> {
    const { runId, fence } = this.#attempt
    if (fence === 1 || this.#profile.resume === undefined || this.#target.agent.resume === 'never') return null
    return interruptedSession(await this.#around.store.look(earlierAttempts, { runId, fence }), this.#profile.name)
  }

  /** The session of the run before, where the task goes on in it. */
  async #sessionBefore(): Promise<string | null> {
    if (this.#target.agent.context !== 'session' || this.#profile.resume === undefined) return null
    const before = await this.#runBefore()
    return before?.profile === this.#profile.name ? before.sessionId : null
  }

  async #runBefore(): Promise<RunBefore | null> {
    const { scheduleId, runId } = this.#attempt
    return scheduleId === null ? null : this.#around.store.look(runBefore, scheduleId, runId)
  }

  async #played(
    resumed: string | null,
    isInterrupted: boolean,
  ): Promise<AgentEnd & { readonly session: string | null }> {
    const { store, secrets: resolver, tether } = this.#around
    const { runId, scheduleId, plannedAt } = this.#attempt
    const profile = this.#profile
    const session = resumed ?? (profile.session === undefined ? undefined : randomUUID())
    const { schedule, author, task } = await store.look(runOrigin, scheduleId)
    const lastAnswer = this.#target.agent.context === 'last' ? (await this.#runBefore())?.answer : null
    const origin = { runId, schedule, author, task, plannedAt, isResumed: isInterrupted, lastAnswer }
    const prompt = originatedPrompt(this.#prompt, origin)
    const promptFile = profile.prompt === 'file' ? await writtenPrompt(prompt) : null
    try {
      const { cwd = profile.cwd ?? process.cwd(), env = {}, agent } = this.#target
      const argv = commandOf(profile, { prompt, promptFile, model: agent.model, session, isResumed: resumed !== null })
      const { value, secrets } = await resolver.resolve({ ...profile.env, ...env })
      const given = { ...(value as Record<string, string>) }
      const environment = {
        ...environmentOf(this.#attempt, given, process.env),
        BELFRY_NAMESPACE: store.namespace,
        ...(schedule !== undefined && { BELFRY_SCHEDULE: schedule }),
        ...(task !== undefined && { BELFRY_TASK: task }),
      }
      const problem = await startProblem({ argv, cwd, environment })
      if (problem !== null) throw new BelfryError('unavailable', redact(problem, secrets))
      if (this.#attempt.signal.aborted) throw new BelfryError('unavailable', 'It was stopped before it began.')
      // Known before the agent begins: whatever happens to this worker, the next attempt can continue it.
      if (session !== undefined && resumed === null) await this.#keep(session, {})
      const input = profile.prompt === 'stdin' ? prompt : null
      const started = await start({
        program: { argv, cwd, environment },
        input,
        tether,
        killAfterMs: profile.killAfterMs,
      })
      const named = (sessionId: string) => {
        if (sessionId !== session || resumed !== null) this.#kept = this.#keep(sessionId, {})
      }
      const following = { attempt: this.#attempt, started, secrets, profile, isRaw: agent.output === 'raw', named }
      const end = await followed(following).finally(() => tether.letGo(started.group.id))
      return { ...end, session: session ?? null }
    } finally {
      if (promptFile !== null) await rm(promptFile, { force: true })
    }
  }

  /** A store that does not answer now is told again at the end. */
  async #keep(sessionId: string | null, facts: object): Promise<void> {
    const { runId, fence } = this.#attempt
    const { name: profile, hash: profileVersion } = this.#profile
    const promptHash = createHash('sha256').update(this.#prompt).digest('hex').slice(0, 12)
    const kept = { profile, sessionId, facts: { profileVersion, promptHash, ...facts } }
    await this.#around.store.do(keepAttempt, { runId, fence }, kept).catch(() => undefined)
  }
}

async function writtenPrompt(prompt: string): Promise<string> {
  const path = join(tmpdir(), `belfry-prompt-${randomUUID()}`)
  await writeFile(path, prompt, { flag: 'wx', mode: 0o600 })
  return path
}
