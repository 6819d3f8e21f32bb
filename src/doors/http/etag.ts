import type { Problem } from '../../operations/problem.ts'

/** What is answered may have a version, by which a later change can say what it was made of. */
export function etagOf(answer: unknown): string | null {
  const version = versionIn(answer)
  return version === null ? null : `"${version}"`
}

function versionIn(answer: unknown): number | null {
  const { version, policyVersion, schedule, queue } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof version === 'number') return version
  if (typeof policyVersion === 'number') return policyVersion
  const written = typeof schedule === 'object' ? schedule : typeof queue === 'object' ? queue : null
  return written === null ? null : versionIn(written)
}

/** The version that If-Match says something must have; If-None-Match with a star, that there must be none yet. */
export function ifVersionOf(headers: Headers, problems: Problem[]): number | undefined {
  if (headers.get('if-none-match') === '*') return 0
  const given = headers.get('if-match')
  if (given === null || given === '*') return undefined
  const [, digits] = /^(?:W\/)?"(\d{1,10})"$/.exec(given.trim()) ?? []
  if (digits !== undefined) return Number(digits)
  problems.push({
    field: 'If-Match',
    problem: `is ${JSON.stringify(given.slice(0, 60))}`,
    expected: 'the ETag as it was answered, such as "3"',
  })
  return undefined
}
