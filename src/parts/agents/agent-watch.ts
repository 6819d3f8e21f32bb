import type { TranscriptReader } from '../../core/agent/transcript.ts'
import { systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { patternMatches } from '../../core/json/pattern.ts'
import type { AgentProfile } from './profile-form.ts'

const questionLengthMax = 500

interface Watched {
  readonly profile: AgentProfile
  /** Whether the agent prints to a terminal. */
  readonly isTerminal: boolean
}

/**
 * Stops an agent that prints no line at its start, waits for a user who is not there, or does not exit. The times are real time, because
 * the programs are real.
 */
export class Watch {
  readonly #profile: AgentProfile
  readonly #reader: TranscriptReader
  readonly #end: () => void
  /** Whether a person can answer the agent's questions. */
  readonly #isAnswered: boolean
  readonly #startedMs = systemClock.monotonic()
  #cancel: () => void = () => undefined
  /** Whether the agent has printed what counts as its first line. */
  #hasBegun: boolean
  #factLines = 0
  hasSpoken = false
  hasLingered = false
  stalled: string | null = null

  constructor({ profile, isTerminal }: Watched, reader: TranscriptReader, end: () => void) {
    this.#isAnswered = isTerminal && profile.prompt !== 'stdin'
    this.#profile = profile
    this.#reader = reader
    this.#end = end
    // A program that prints one JSON value at its end is silent until then.
    this.#hasBegun = profile.stall.startMs === undefined || profile.stream === 'json'
    this.#look('')
  }

  heard(text: string): void {
    this.hasSpoken = true
    // A text may come without line breaks; a stream of JSON that stops in its first line tells nothing.
    this.#hasBegun ||= this.#profile.stream === 'text' || text.includes('\n')
    const { factLines, facts, question } = this.#reader
    // After the final message, lines that the profile does not read are no work of the agent: a child process may print them.
    if (facts.isDone && this.#profile.stream === 'jsonl' && factLines === this.#factLines) return
    this.#factLines = factLines
    this.#look(question)
  }

  /** On stderr, a warning at the start is not the first line of output, and a warning after the final message is not work. */
  complained(text: string): void {
    const question = text.trimEnd().split('\n').at(-1) ?? ''
    if (this.#reader.facts.isDone || !(this.hasSpoken || this.#asks(question))) return
    this.#look(question)
  }

  close(): void {
    this.#cancel()
  }

  #look(question: string): void {
    this.#cancel()
    const { lingerMs, stall } = this.#profile
    if (this.#reader.facts.isDone) {
      this.#after(lingerMs, () => {
        this.hasLingered = true
        this.#end()
      })
    } else if (!this.#isAnswered && this.#asks(question)) {
      this.#after(stall.silenceMs, () => this.#stall(`it asked: ${question.slice(-questionLengthMax).trim()}`))
    } else if (!this.#hasBegun && stall.startMs !== undefined) {
      const leftMs = this.#startedMs + stall.startMs - systemClock.monotonic()
      this.#after(Math.max(0, leftMs), () => this.#stall(`no line within ${formatDuration(stall.startMs ?? 0)}`))
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
