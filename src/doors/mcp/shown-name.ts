import { hiddenAgain } from '../../core/untrusted-text.ts'

/** Input fields with a name that answers show too. */
const naming: ReadonlySet<string> = new Set(['name', 'schedule', 'queue', 'queues', 'host', 'handlers', 'after'])

/** Fields that contain such an input. */
const holding: ReadonlySet<string> = new Set(['run', 'runs'])

/** The input with real names. Answers escape invisible characters in names, so a model knows only the escaped form. Payloads and other texts are left alone. */
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
