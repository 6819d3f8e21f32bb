import type { z } from 'zod'
import { fence } from '../../core/untrusted-text.ts'
import { isoText } from '../../operations/input/instant.ts'
import type { Def } from '../../operations/schema/answer-encoding.ts'
import { Fact } from '../../operations/schema/brief.ts'
import { noteOf } from '../../operations/schema/schema-note.ts'
import { isLabel } from './label.ts'
import type { Detail } from './tools.ts'

/** An answer for a model: facts as JSON, and after them, in one fence, every text that others may have written. */
export type ModelAnswer = readonly [facts: string] | readonly [facts: string, texts: string]

/** The length of a text in a short answer. */
const shownMax = 2_000

/** Collects the fenced texts; `$1` in the facts stands for the first. */
class Texts {
  readonly #byText = new Map<string, string>()
  readonly #texts: Record<string, unknown> = {}
  readonly #detail: Detail

  constructor(detail: Detail) {
    this.#detail = detail
  }

  /** The mark for a text; a repeated text gets the same mark. */
  mark(value: unknown, field: string): string {
    const shown = this.#detail === 'full' ? value : cut(value, field)
    const text = JSON.stringify(shown)
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const mark = `$${this.#byText.size + 1}`
    this.#byText.set(text, mark)
    this.#texts[mark] = shown
    return mark
  }

  fenced(): string | null {
    return this.#byText.size === 0 ? null : fence(JSON.stringify(this.#texts))
  }
}

/** The end of an output matters most; of other texts both ends matter. */
function cut(value: unknown, field: string): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= shownMax) return value
  const head = field === 'text' ? 0 : shownMax / 2
  const left = text.length - shownMax
  return `${text.slice(0, head)}…[${left} characters left out; detail full has them]…${text.slice(head - shownMax)}`
}

export interface ModelAnswerOptions {
  readonly detail: Detail
  /** The input for the next page; null at the end. */
  readonly next?: Readonly<Record<string, unknown>> | null
}

export function modelAnswer(
  answer: unknown,
  schema: z.ZodType,
  { detail, next = null }: ModelAnswerOptions,
): ModelAnswer {
  const texts = new Texts(detail)
  const facts = factsOf(schema, answer ?? null, { texts, detail, field: '', isListed: false })
  return said(Array.isArray(facts) && next !== null ? { items: facts, next: labelled(next, texts) } : facts, texts)
}

/** A bare list could not say that it continues. The cursor names its last item, which may be no label. */
function labelled(next: Readonly<Record<string, unknown>>, texts: Texts): Readonly<Record<string, unknown>> {
  const fields = Object.entries(next).map(([field, value]) => {
    const isShown = typeof value !== 'string' || isLabel('name', value)
    return [field, isShown ? value : texts.mark(value, field)]
  })
  return Object.fromEntries(fields)
}

/** Data without a schema, such as the details of an error: every text is fenced. */
export function modelData(
  facts: Readonly<Record<string, unknown>>,
  data: Readonly<Record<string, unknown>>,
): ModelAnswer {
  const texts = new Texts('full')
  const marked = Object.entries(data).map(([field, value]) => [field, texts.mark(value, field)])
  return said({ ...facts, ...Object.fromEntries(marked) }, texts)
}

function said(facts: unknown, texts: Texts): ModelAnswer {
  const fenced = texts.fenced()
  const text = JSON.stringify(facts)
  return fenced === null ? [text] : [text, fenced]
}

interface FactContext {
  readonly texts: Texts
  readonly detail: Detail
  readonly field: string
  readonly isListed: boolean
}

function factsOf(schema: z.ZodType | undefined, given: unknown, place: FactContext): unknown {
  if (given instanceof Fact) return given.value
  if (given === null || given === undefined || typeof given === 'boolean') return given
  if (typeof given === 'number') return isInstant(schema) ? shortIso(given) : given
  const { brief, form } = schema === undefined ? {} : noteOf(schema)
  const { type, innerType, shape, element, options, entries } = (schema?.def ?? { type: 'unknown' }) as unknown as Def
  if (form === undefined) {
    const value = brief === undefined || place.detail === 'full' ? given : brief(given as never, place.isListed)
    if (type === 'object' && shape !== undefined) return factsOfFields(shape, value as object, place)
    if (type === 'array' && Array.isArray(value)) return factsOfList(element, value, place)
    if (type === 'union') return factsOf(fitting(options, value), value, place)
    if (type === 'enum' && Object.values(entries ?? {}).includes(value)) return value
    if (type === 'literal') return value
    if (type === 'string' && isLabel(place.field, value)) return value
    if (innerType !== undefined) return factsOf(innerType, value, place)
  }
  return place.texts.mark(given, place.field)
}

function isInstant(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false
  const { innerType } = schema.def as unknown as Def
  return noteOf(schema).isInstant === true || isInstant(innerType)
}

function factsOfFields(shape: Readonly<Record<string, z.ZodType>>, value: object, place: FactContext): unknown {
  const fields = Object.entries(value)
    .map(([field, each]) => {
      const schema = Object.hasOwn(shape, field) ? shape[field] : undefined
      return [field, factsOf(schema, each, { ...place, field, isListed: false })] as const
    })
    .filter(([, each]) => place.detail === 'full' || !isEmpty(each, place.field === ''))
  return Object.fromEntries(fields)
}

function factsOfList(element: z.ZodType | undefined, value: readonly unknown[], place: FactContext): unknown {
  const isProse = value.some((each) => typeof each === 'string' && !isLabel(place.field, each))
  if (isProse) return place.texts.mark(value, place.field)
  return value.map((each) => factsOf(element, each, { ...place, isListed: true }))
}

/** What a short answer leaves out. An empty list that was asked for is an answer, and stays. */
function isEmpty(value: unknown, isAskedFor: boolean): boolean {
  if (value === null || value === undefined) return true
  return !isAskedFor && typeof value === 'object' && Object.keys(value).length === 0
}

function fitting(options: readonly z.ZodType[] = [], value: unknown): z.ZodType | undefined {
  return options.find((option) => option.safeParse(value).success)
}

/** Without zero fractions of a second: they are a fifth of an instant's tokens. */
function shortIso(at: number): string {
  return isoText(at).replace(/\.000Z$/, 'Z')
}
