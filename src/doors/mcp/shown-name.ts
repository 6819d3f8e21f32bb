import { hiddenAgain } from '../../core/untrusted-text.ts'

/** Fields of an input that name something which answers show. */
const naming: ReadonlySet<string> = new Set(['name', 'schedule', 'queue', 'queues', 'host', 'handlers', 'after'])

/** Fields that hold such an input themselves. */
const holding: ReadonlySet<string> = new Set(['run', 'runs'])

/**
 * The input with the real names of what it names. Answers write out the characters of a name that a reader could not see, so a model
 * can name it only by that form. Payloads and other texts mean what they say.
 */
export function withRealNames(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const fields = Object.entries(input).map(([field, value]) => {
    if (naming.has(field)) return [field, realName(value)] as const
    return [field, holding.has(field) ? inside(value) : value] as const
  })
  return Object.fromEntries(fields)
}

function realName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(realName)
  return typeof value === 'string' ? hiddenAgain(value) : value
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  const isRecord = typeof value === 'object' && value !== null
  return isRecord ? withRealNames(value as Readonly<Record<string, unknown>>) : value
}
