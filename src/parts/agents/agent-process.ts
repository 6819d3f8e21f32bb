import { type AgentState, agentState } from '../../core/agent/agent-state.ts'
import { TerminalText } from '../../core/agent/terminal-text.ts'
import { type Transcript, TranscriptReader } from '../../core/agent/transcript.ts'
import { transcriptUsage } from '../../core/agent/transcript-verdict.ts'
import { systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { patternMatches } from '../../core/json/pattern.ts'
import { type Usage, usageSince } from '../../core/run/usage.ts'
import type { Attempt } from '../../targets/attempt.ts'
import { listen } from '../../targets/command/output-stream.ts'
import type { Exit, Started } from '../../targets/command/start-program.ts'
import { Tail } from '../../targets/command/tail.ts'
import type { Secret } from '../../targets/secret.ts'
import type { AgentProfile } from './profile-form.ts'

export interface AgentProcess {
  readonly attempt: Attempt
  readonly started: Started
  readonly secrets: readonly Secret[]
  readonly profile: AgentProfile
  readonly isRaw: boolean
  /** Called once, when the agent has named its session. */
  readonly named: (sessionId: string) => void
  /** Called when what it is doing has changed. */
  readonly does: (state: AgentState) => void
  /** Whether it prints to a terminal. */
  readonly isTerminal: boolean
}

export interface AgentEnd {
  readonly exit: Exit
  readonly reader: TranscriptReader
  /** The end of what it wrote to stderr. */
  readonly complaints: string
  /** Whether it printed anything. */
  readonly hasSpoken: boolean
  readonly stalled?: string
  /** It gave its final message and did not end. */
  readonly hasLingered: boolean
}

const complaintsLengthMax = 4_000
/** A question is at the end of a line that has no end. */
const questionLengthMax = 500

/** Follows an agent until nothing of it is left: reads what it prints, and ends it when it stalls, lingers or is told to stop. */
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
    watch.heard(reader.unfinished)
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

/** Tells what the agent is doing, when that changes. */
class Doing {
  readonly #agent: AgentProcess
  readonly #reader: TranscriptReader
  readonly #tail = new Tail(questionLengthMax)
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

/** Reports what an agent has used as soon as it says so: a budget may end it before it has ended. */
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

/** Ends an agent that does not begin, waits for an answer from a user who is not there, or does not end. Real programs take real time. */
class Watch {
  readonly #profile: AgentProfile
  readonly #reader: TranscriptReader
  readonly #end: () => void
  /** Whether a person can answer its questions. */
  readonly #isAnswered: boolean
  #cancel: () => void = () => undefined
  hasSpoken = false
  hasLingered = false
  stalled: string | null = null

  constructor({ profile, isTerminal }: AgentProcess, reader: TranscriptReader, end: () => void) {
    this.#isAnswered = isTerminal && profile.prompt !== 'stdin'
    this.#profile = profile
    this.#reader = reader
    this.#end = end
    const { stall, stream } = profile
    // A program that prints one value at its end is silent until then.
    if (stall.startMs === undefined || stream === 'json') return
    this.#after(stall.startMs, () => this.#stall(`no line within ${formatDuration(stall.startMs ?? 0)}`))
  }

  heard(unfinished: string): void {
    this.hasSpoken = true
    this.#look(unfinished)
  }

  /** A warning at the beginning is no first line, and one after the final message is no work. */
  complained(text: string): void {
    const unfinished = text.slice(text.lastIndexOf('\n') + 1)
    if (this.#reader.facts.isDone || !(this.hasSpoken || this.#asks(unfinished))) return
    this.#look(unfinished)
  }

  close(): void {
    this.#cancel()
  }

  #look(unfinished: string): void {
    this.#cancel()
    const { lingerMs, stall } = this.#profile
    if (this.#reader.facts.isDone) {
      this.#after(lingerMs, () => {
        this.hasLingered = true
        this.#end()
      })
    } else if (!this.#isAnswered && this.#asks(unfinished)) {
      this.#after(stall.silenceMs, () => this.#stall(`it asked: ${unfinished.slice(-questionLengthMax).trim()}`))
    }
  }

  #asks(text: string): boolean {
    const { asks } = this.#profile.stall
    const question = text.slice(-questionLengthMax)
    return question !== '' && asks.some((pattern) => patternMatches(pattern, question))
  }

  #stall(why: string): void {
    this.stalled = why
    this.#end()
  }

  #after(ms: number, act: () => void): void {
    this.#cancel = systemClock.after(ms, act)
  }
}
