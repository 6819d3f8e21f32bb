import { type AgentState, agentState } from '../../core/agent/agent-state.ts'
import { TerminalText } from '../../core/agent/terminal-text.ts'
import { type Transcript, TranscriptReader } from '../../core/agent/transcript.ts'
import { transcriptUsage } from '../../core/agent/transcript-verdict.ts'
import { type Usage, usageSince } from '../../core/run/usage.ts'
import type { Attempt } from '../../targets/attempt.ts'
import { listen } from '../../targets/command/output-stream.ts'
import type { Exit, Started } from '../../targets/command/start-program.ts'
import { Tail } from '../../targets/command/tail.ts'
import type { Secret } from '../../targets/secret.ts'
import { Watch } from './agent-watch.ts'
import type { AgentProfile } from './profile-form.ts'

export interface AgentProcess {
  readonly attempt: Attempt
  readonly started: Started
  readonly secrets: readonly Secret[]
  readonly profile: AgentProfile
  readonly isRaw: boolean
  /** Called once, when the agent has named its session. */
  readonly named: (sessionId: string) => void
  /** Called when the state of the agent has changed. */
  readonly does: (state: AgentState) => void
  /** Whether the agent prints to a terminal. */
  readonly isTerminal: boolean
}

export interface AgentEnd {
  readonly exit: Exit
  readonly reader: TranscriptReader
  /** The last part of the agent's stderr. */
  readonly complaints: string
  /** Whether the agent printed anything. */
  readonly hasSpoken: boolean
  readonly stalled?: string
  /** The agent gave its final message, but did not exit. */
  readonly hasLingered: boolean
}

const complaintsLengthMax = 4_000
/** How much of the end of the output shows what the agent is doing. */
const tailLengthMax = 500

/** Follows an agent until its last process has ended: reads its output, and stops it when it stalls, lingers or must stop. */
export async function followed(agent: AgentProcess): Promise<AgentEnd> {
  const { attempt, started, secrets, profile, isRaw, named, isTerminal } = agent
  const { stdout, stderr, group, exited } = started
  const reader = new TranscriptReader(profile)
  const plain = isTerminal ? new TerminalText() : null
  const doing = new Doing(agent, reader)
  const complaints = new Tail(complaintsLengthMax)
  const watch = new Watch(agent, reader, () => group.end())
  const drained = () => attempt.drained()
  const used = new UsageReport(attempt, profile)
  const read = (printed: string) => {
    const before = reader.facts.sessionId
    const text = plain?.add(printed) ?? printed
    const readable = reader.add(text)
    doing.heard(text)
    used.report(reader.facts)
    attempt.output(isRaw ? printed : readable)
    const { sessionId } = reader.facts
    if (before === undefined && sessionId !== undefined) named(sessionId)
    watch.heard(text)
  }
  const complain = (text: string) => {
    complaints.add(text)
    attempt.output(text)
    watch.complained(text)
  }
  const streams = [
    listen({ stream: stdout, secrets, say: read, drained }),
    listen({ stream: stderr, secrets, say: complain, drained }),
  ]
  const stop = () => group.end()
  attempt.signal.addEventListener('abort', stop)
  if (attempt.signal.aborted) stop()
  const exit = await exited
  const isGone = await group.endRest()
  watch.close()
  attempt.signal.removeEventListener('abort', stop)
  await Promise.all(streams.map((stream) => stream.finish()))
  if (plain !== null) reader.add(plain.end())
  const rest = reader.end(exit.exitCode === 0)
  doing.heard('')
  used.report(reader.facts)
  if (!isRaw) attempt.output(rest)
  if (!isGone) attempt.output(`\n[belfry: processes of group ${group.id} could not be ended and may still run]\n`)
  const { hasSpoken, stalled, hasLingered } = watch
  return { exit, reader, complaints: complaints.text, hasSpoken, hasLingered, ...(stalled !== null && { stalled }) }
}

/** Reports the state of the agent when the state changes. */
class Doing {
  readonly #agent: AgentProcess
  readonly #reader: TranscriptReader
  readonly #tail = new Tail(tailLengthMax)
  #state: AgentState | null = null

  constructor(agent: AgentProcess, reader: TranscriptReader) {
    this.#agent = agent
    this.#reader = reader
  }

  heard(text: string): void {
    this.#tail.add(text)
    const { states, stall } = this.#agent.profile
    const state = agentState({ facts: this.#reader.facts, tail: this.#tail.text, states, asks: stall.asks })
    if (state === this.#state) return
    this.#state = state
    this.#agent.does(state)
  }
}

/** Reports the usage of an agent as soon as the agent prints it: a budget may stop the agent early. */
class UsageReport {
  readonly #attempt: Attempt
  readonly #profile: AgentProfile
  #told: Usage = {}

  constructor(attempt: Attempt, profile: AgentProfile) {
    this.#attempt = attempt
    this.#profile = profile
  }

  report(facts: Transcript): void {
    const usage = transcriptUsage(facts, this.#profile)
    if (usage === undefined || JSON.stringify(usage) === JSON.stringify(this.#told)) return
    const more = usageSince(usage, this.#told)
    this.#told = usage
    this.#attempt.usage(more)
  }
}
