import type { z } from 'zod'
import type { Problem } from '../../operations/input/refuse-input.ts'
import type { Def } from '../../operations/schema/answer-encoding.ts'
import { noteOf } from '../../operations/schema/schema-note.ts'

/** The ETag of an answer, where it has a version: its own, or that of what was written. */
export function etagOf(schema: z.ZodType, answer: unknown): string | null {
  const { shape = {} } = schema.def as unknown as Def
  const fields = Object.entries(shape).map(([name, field]) => [field, valueIn(answer, name)] as const)
  for (const [each, value] of [[schema, answer] as const, ...fields]) {
    const { version } = noteOf(each)
    if (version !== undefined && value != null) return `"${version(value as never)}"`
  }
  return null
}

function valueIn(answer: unknown, name: string): unknown {
  return (answer as Readonly<Record<string, unknown>> | null | undefined)?.[name]
}

/** The input that headers can give. */
export interface Seen {
  readonly ifVersion?: number
  readonly ifId?: string
}

interface Keeping {
  /** Whether the verb can require a version. */
  readonly isKept: boolean
  /** Whether an id comes before the version. */
  readonly hasIds: boolean
  readonly canBeNew: boolean
}

/** The version that If-Match requires; If-None-Match: * requires that there is none. A condition that the verb cannot check is refused: ignored silently, it would seem to hold. */
export function seenIn(headers: Headers, { isKept, hasIds, canBeNew }: Keeping, problems: Problem[]): Seen {
  const [none, given] = [headers.get('if-none-match'), headers.get('if-match')]
  const refuse = (field: string, problem: string, expected: string) => {
    problems.push({ field, problem, expected })
    return {}
  }
  if (none !== null && !(none.trim() === '*' && canBeNew)) {
    refuse(
      'If-None-Match',
      `is ${JSON.stringify(none.slice(0, 60))}`,
      canBeNew ? '*, or none' : 'none; POST creates only what does not exist',
    )
  }
  if (given === null) return none !== null && canBeNew ? { ifVersion: 0 } : {}
  if (!isKept) return refuse('If-Match', 'is given, and this verb cannot require a version', 'none')
  const [, id, digits] = /^(?:W\/)?"(?:([a-z]-[0-9a-z]{2,12})\.)?(\d{1,10})"$/.exec(given.trim()) ?? []
  if (digits === undefined || (id !== undefined && !hasIds)) {
    const example = hasIds ? '"s-15.3"' : '"3"'
    return refuse(
      'If-Match',
      `is ${JSON.stringify(given.slice(0, 60))}`,
      `the ETag as the server sent it, such as ${example}`,
    )
  }
  return { ifVersion: Number(digits), ...(id !== undefined && { ifId: id }) }
}
