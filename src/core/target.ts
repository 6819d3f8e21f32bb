import type { TargetNeed } from './plan.ts'

/** What a run does when it is executed: exactly one of the kinds, with the fields of that kind beside it. */
export type Target = Readonly<Record<string, unknown>>

export const targetKinds = ['handler', 'command', 'http', 'agent', 'inbox'] as const
const handlerLengthMax = 500
export type TargetKind = (typeof targetKinds)[number]

/** What the target needs of its executor, or a sentence saying why it is none. A run without a target needs a host. */
export function needOf(target: Target | null | undefined): { need: TargetNeed | null } | { problem: string } {
  if (target === null || target === undefined) return { need: null }
  const kinds = targetKinds.filter((kind) => target[kind] !== undefined)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    return {
      problem: `has ${kinds.length === 0 ? 'none' : kinds.join(' and ')} of ${targetKinds.join(', ')}; it needs exactly one`,
    }
  }
  if (kind !== 'handler') return { need: { kind } }
  const { handler } = target
  if (typeof handler !== 'string' || handler === '')
    return { problem: 'names no handler; it needs a text that is not empty' }
  const wrong = wrongInName(handler)
  return wrong === null ? { need: { kind, handler } } : { problem: `names a handler ${wrong}` }
}

/** A handler's name is a key in both databases: PostgreSQL refuses NUL, and half a surrogate pair would be replaced. */
function wrongInName(handler: string): string | null {
  if (handler.length > handlerLengthMax) {
    return `of ${handler.length} characters; it needs at most ${handlerLengthMax}`
  }
  if (handler.includes('\0')) return `with a NUL character at position ${handler.indexOf('\0')}; it needs one without`
  return handler.isWellFormed() ? null : 'with half of a surrogate pair; it needs well-formed Unicode'
}
