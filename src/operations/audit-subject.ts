import type { AnyOperation } from './operation.ts'

/** The subject of a call in the audit log. The input is not validated yet. */
export function auditSubject(
  { noun, about }: Pick<AnyOperation, 'noun' | 'about'>,
  given: Readonly<Record<string, unknown>>,
): string {
  if (about !== undefined) return textIn(about(given))
  const { name, id, queue } = given
  const named = name ?? id
  if (named !== undefined) return `${noun} ${textIn(named)}`
  return noun === 'store' ? 'store' : `queue ${textIn(queue ?? 'default')}`
}

/** Input as it can be stored in the audit log. */
function textIn(value: unknown): string {
  return String(typeof value === 'string' ? value : typeof value)
    .slice(0, 300)
    .replaceAll('\0', '')
    .toWellFormed()
}
