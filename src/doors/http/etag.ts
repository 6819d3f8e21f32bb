import { parseId } from '../../core/id.ts'
import type { Problem } from '../../operations/problem.ts'

/**
 * What is answered may have a version, by which a later change can say what it was made of. Of a schedule its id stands before it: one
 * that was deleted and made anew counts its versions from the beginning, and is another.
 */
export function etagOf(answer: unknown): string | null {
  const version = versionIn(answer)
  return version === null ? null : `"${version}"`
}

function versionIn(answer: unknown): string | null {
  const { id, version, policyVersion, schedule, queue } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof version === 'number') return parseId('schedule', id) === null ? String(version) : `${id}.${version}`
  if (typeof policyVersion === 'number') return String(policyVersion)
  const written = typeof schedule === 'object' ? schedule : typeof queue === 'object' ? queue : null
  return written === null ? null : versionIn(written)
}

/** What of an input a header can say. */
export interface Seen {
  readonly ifVersion?: number
  readonly ifId?: string
}

interface Keeping {
  /** Whether the verb can be done for one version only. */
  readonly isKept: boolean
  /** Whether it can be done for one schedule of a name only. */
  readonly hasIds: boolean
  readonly canBeNew: boolean
}

/**
 * The version that If-Match says something must have; If-None-Match with a star, that there must be none yet. A wish that the verb
 * cannot keep is refused: dropped in silence, it would be taken for kept.
 */
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
      canBeNew ? '*, or none' : 'none; POST makes only what is not there',
    )
  }
  if (given === null) return none !== null && canBeNew ? { ifVersion: 0 } : {}
  if (!isKept) return refuse('If-Match', 'is given, and this cannot be done for one version only', 'none')
  const [, id, digits] = /^(?:W\/)?"(?:(s-[0-9a-z]{2,12})\.)?(\d{1,10})"$/.exec(given.trim()) ?? []
  if (digits === undefined || (id !== undefined && !hasIds)) {
    const example = hasIds ? '"s-15.3"' : '"3"'
    return refuse(
      'If-Match',
      `is ${JSON.stringify(given.slice(0, 60))}`,
      `the ETag as it was answered, such as ${example}`,
    )
  }
  return { ifVersion: Number(digits), ...(id !== undefined && { ifId: id }) }
}
