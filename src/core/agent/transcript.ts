import { isRecord } from '../json/record.ts'
import { LineSplitter } from './line-splitter.ts'
import {
  listOf,
  type Proof,
  proofs,
  type ReadName,
  type ReadRule,
  type TranscriptProfile,
  valuesAt,
} from './profile.ts'
import { type Match as MatchOf, numberOf, pathOf, RuleSet } from './rule-set.ts'

/** What a transcript proves. */
export interface Transcript {
  sessionId?: string
  model?: string
  tokensIn?: number
  tokensOut?: number
  tokensCached?: number
  /** In millionths of the currency's unit. */
  cost?: number
  turns?: number
  /** How much of the provider's limits is used, by the names of the limits. */
  utilisation: Record<string, { share: number; resetAt?: number }>
  /** The provider's limit that was reached, and when it resets. */
  window?: string
  resetAt?: number
  /** The final message has come. */
  isDone: boolean
  /** Its text. */
  text?: string
  /** Tools that were denied, each once. */
  denials: string[]
  /** What failed, by what the failure proves. */
  proven: { -readonly [Name in Proof]?: string }
  limit?: { resetAt?: number }
  /** The agent has printed text or used a tool, so the attempt may have had effects. */
  hasActed: boolean
}

/** How much of the end of a plain-text transcript is kept; a final message is cut to it. */
const textLengthMax = 100 * 1024
const shortLengthMax = 500
const wholeLengthMax = 8 * 1024 ** 2
const denialsMax = 50
const windowsMax = 20
const windowLengthMax = 100

type Name = ReadName | Proof | 'limit'
type Match = MatchOf<Name>
type Noter = (rule: ReadRule, found: readonly unknown[]) => void

const numeric = ['tokensIn', 'tokensOut', 'tokensCached', 'cost', 'turns'] as const
type Numeric = (typeof numeric)[number]

function isNumeric(name: Name): name is Numeric {
  return (numeric as readonly string[]).includes(name)
}

function isProof(name: Name): name is Proof {
  return (proofs as readonly string[]).includes(name)
}

/**
 * Reads the transcript of an agent, in pieces of any size, into facts and into text that a person can read.
 *
 * Its memory is bounded: a line that is too long is skipped, and only the end of a text is kept. A line that cannot be read
 * proves nothing and is shown unchanged.
 */
export class TranscriptReader {
  readonly facts: Transcript = { isDone: false, utilisation: {}, denials: [], proven: {}, hasActed: false }
  readonly #stream: TranscriptProfile['stream']
  readonly #rules: RuleSet<Name>
  readonly #lines = new LineSplitter()
  /** The end of a text; the whole of one JSON value. */
  #whole = ''
  #isWholeCut = false
  /** The last line that was no JSON and not blank, if no JSON has followed. */
  #lastText = ''
  #joined: ReadRule | null = null
  #said = ''

  constructor({ stream, read, verdict = {}, limits }: TranscriptProfile) {
    this.#stream = stream
    // Without an end marker in the profile, the end is where the final message is.
    const named = {
      ...read,
      done: read.done ?? read.final,
      ...Object.fromEntries(proofs.map((name) => [name, verdict[name]])),
      limit: limits,
    }
    this.#rules = new RuleSet(
      Object.entries(named).flatMap(([name, rules]) => listOf(rules).map((rule) => ({ name: name as Name, rule }))),
    )
  }

  /** How many lines the profile has found something in. */
  factLines = 0

  /** Where a question would stand: the unfinished line, or else the last line of text. A line of JSON asks nothing. */
  get question(): string {
    return this.#lines.rest.trim() === '' ? this.#lastText : this.#lines.rest
  }

  /** Takes a piece, and returns the text for people in it. */
  add(piece: string): string {
    this.#said = ''
    if (this.#stream === 'json') {
      this.#isWholeCut ||= this.#whole.length + piece.length > wholeLengthMax
      if (!this.#isWholeCut) this.#whole += piece
      return ''
    }
    for (const line of this.#lines.add(piece)) this.#take(line)
    if (this.#stream === 'jsonl') return this.#said
    this.#keep(piece)
    return piece
  }

  /** Takes the rest, after which no line break follows. `isClean`: the program ended by itself, with exit code 0. */
  end(isClean: boolean): string {
    this.#said = ''
    if (this.#stream === 'json') {
      const value = this.#isWholeCut ? undefined : parsed(this.#whole)
      if (value === undefined) return this.#whole
      this.#judge(this.#rules.inValue(value))
      return this.#said
    }
    const rest = this.#lines.end()
    if (rest !== '') this.#take(rest)
    if (this.#stream === 'jsonl') return this.#said
    if (isClean && !this.#rules.has('done')) this.facts.isDone = true
    if (this.#whole !== '') this.facts.hasActed = true
    if (this.facts.isDone && this.#whole !== '') this.facts.text = this.#whole
    return ''
  }

  #take(line: string): void {
    if (this.#stream === 'text') {
      if (line.trim() !== '') this.#lastText = line.slice(-shortLengthMax)
      this.#judge(this.#rules.inLine(line))
    } else if (this.#rules.mayMatch(line) || !line.startsWith('{')) {
      const value = parsed(line)
      if (value === undefined) this.#sayAsIs(line)
      else {
        this.#lastText = ''
        this.#judge(this.#rules.inValue(value))
      }
    } else {
      this.#lastText = ''
      this.#joined = null
    }
  }

  #sayAsIs(line: string): void {
    if (line.trim() !== '') this.#lastText = line.slice(-shortLengthMax)
    this.#breakLine()
    this.#said += `${line}\n`
    this.#joined = null
  }

  #keep(piece: string): void {
    this.#whole += piece
    if (this.#whole.length > 2 * textLengthMax) this.#whole = this.#whole.slice(-textLengthMax)
  }

  #judge(matches: readonly Match[]): void {
    if (matches.length > 0) this.factLines++
    let joins: ReadRule | null = null
    let [isDone, isProven] = [false, false]
    for (const { name, rule, found } of matches) {
      this.#note(name, rule, found)
      isDone ||= name === 'done'
      isProven ||= isProof(name)
      if (rule.join === true) joins = rule
    }
    this.#joined = joins
    // The agent ended well after all: it recovered from the earlier error.
    if (isDone && !isProven) this.facts.proven = {}
  }

  #note(name: Name, rule: ReadRule, found: readonly unknown[]): void {
    if (isNumeric(name)) this.#noteNumber(name, rule, found)
    else if (isProof(name)) this.facts.proven[name] ??= short(firstText(found) ?? '')
    else this.#noters[name](rule, found)
  }

  readonly #noters: Readonly<Record<Exclude<Name, Numeric | Proof>, Noter>> = {
    session: (_, found) => this.#noteText('sessionId', firstText(found)),
    model: (_, found) => this.#noteText('model', firstText(found)),
    window: (_, found) => this.#noteText('window', firstText(found)),
    reset: (rule, found) => Object.assign(this.facts, resetOf(rule, found)),
    utilisation: (rule, found) => {
      const entries = found.flatMap((each) => (isRecord(each) ? Object.entries(each) : []))
      for (const [window, limit] of entries.slice(0, windowsMax)) {
        const [share] = valuesAt(limit, pathOf(rule.share ?? 'utilization')).flatMap(numberOf)
        if (share === undefined || share < 0 || window === '' || window.length > windowLengthMax) continue
        const reset = rule.reset === undefined ? [] : valuesAt(limit, pathOf(rule.reset))
        this.facts.utilisation[window] = { share, ...resetOf(rule, reset) }
      }
    },
    done: () => {
      this.facts.isDone = true
    },
    final: (rule, found) => this.#noteFinal(rule, found),
    say: (rule, found) => this.#say(rule, found),
    tools: (_, found) => {
      for (const tool of texts(found)) this.#sayLine(`→ ${short(tool)}`)
    },
    denials: (_, found) => {
      const { denials } = this.facts
      for (const tool of texts(found).map(short)) {
        if (denials.length < denialsMax && !denials.includes(tool)) denials.push(tool)
      }
    },
    limit: (rule, found) => {
      this.facts.limit = { ...this.facts.limit, ...resetOf(rule, found) }
    },
  }

  #noteText(name: 'model' | 'sessionId' | 'window', text: string | undefined): void {
    if (text !== undefined && text !== '' && text.length <= shortLengthMax) this.facts[name] = text
  }

  #noteNumber(name: Numeric, rule: ReadRule, found: readonly unknown[]): void {
    const numbers = found.flatMap(numberOf)
    if (numbers.length === 0) return
    const scale = name === 'cost' ? 1_000_000 : 1
    const total = Math.round(numbers.reduce((sum, number) => sum + number, 0) * scale)
    const sum = rule.sum === true ? (this.facts[name] ?? 0) + total : total
    if (Number.isSafeInteger(sum) && sum >= 0) this.facts[name] = sum
  }

  #noteFinal(rule: ReadRule, found: readonly unknown[]): void {
    const text = texts(found).join('')
    if (texts(found).length === 0) return
    const before = rule.join === true && this.#joined !== null ? (this.facts.text ?? '') : ''
    // Only this much of a message in pieces is kept, so that a flood of pieces stays bounded.
    this.facts.text = (before + text).slice(0, 2 * textLengthMax)
  }

  #say(rule: ReadRule, found: readonly unknown[]): void {
    for (const text of texts(found)) {
      if (rule.join !== true) this.#sayLine(text)
      else {
        this.facts.hasActed = true
        if (this.#joined === null) this.#breakLine()
        this.#said += text
        this.#isOpen = true
      }
    }
  }

  #sayLine(text: string): void {
    this.facts.hasActed = true
    this.#breakLine()
    this.#said += `${text}\n`
  }

  /** No line break follows the last piece of a message. */
  #isOpen = false
  #breakLine(): void {
    if (this.#isOpen) this.#said += '\n'
    this.#isOpen = false
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function texts(found: readonly unknown[]): string[] {
  return found.filter((value) => typeof value === 'string')
}

/** The first value that is not empty; a value that is not text is shown as JSON. */
function firstText(found: readonly unknown[]): string | undefined {
  const value = found.find((each) => each !== null && each !== undefined && each !== '')
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value)
}

function short(text: string): string {
  return text.slice(0, shortLengthMax).toWellFormed()
}

/** An instant in this century, else null. */
function resetOf({ unit = 'ms' }: ReadRule, found: readonly unknown[]): { resetAt?: number } {
  const [number] = found.flatMap(numberOf)
  const resetAt = Math.round((number ?? 0) * (unit === 's' ? 1_000 : 1))
  return resetAt > instantMin && resetAt < instantMax ? { resetAt } : {}
}

const instantMin = Date.UTC(2020)
const instantMax = Date.UTC(2100)
