import { type Fields, namedFields } from '../../core/field-table.ts'
import { inUnits } from './duration-input.ts'
import type { Problem } from './refuse-input.ts'

/** Words a problem of a stored field as the caller wrote it: `everyMs is 500` for `every: '500ms'` becomes `every is 500ms`. Durations that were not given are written with units. */
export function asWritten({ field, problem, expected }: Problem, given: object, fields: Fields): Problem {
  const durations = durationsIn(fields)
  const written = (name: string) => (durations.has(name) && !isInMs(name, given) ? name.slice(0, -2) : name)
  const isText = written(field) !== field
  const told = (clause: string) => {
    const named = clause.replace(/[\w.]+Ms\b/g, written)
    return isText ? inUnits(named) : named
  }
  return { field: written(field), problem: told(problem), expected: told(expected) }
}

/** The names under which durations are stored: `everyMs`, `backoff.baseMs`. */
function durationsIn(fields: Fields, prefix = ''): ReadonlySet<string> {
  const names = namedFields(fields).flatMap(({ given, stored, field }) => {
    if (field.fields !== undefined) return [...durationsIn(field.fields, `${prefix}${given}.`)]
    return field.kind === 'duration' ? [prefix + stored] : []
  })
  return new Set(names)
}

/** Whether the caller gave a duration in ms, or in both forms. */
function isInMs(path: string, given: object): boolean {
  let inner: unknown = given
  const steps = path.split('.')
  const last = steps.pop() as string
  for (const step of steps) inner = (inner as Readonly<Record<string, unknown>> | null | undefined)?.[step]
  return (inner as Readonly<Record<string, unknown>> | null | undefined)?.[last] !== undefined
}
