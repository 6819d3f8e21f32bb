import { z } from 'zod'
import { isLeftOut, leftOutBy } from './features.ts'
import type { Part } from './part.ts'
import { parts } from './parts.ts'
import { handlerKind } from './targets/handler/kind.ts'
import type { TargetKind } from './targets/kind.ts'
import { type MessageOf, messagesBy } from './targets/message.ts'

const each: readonly Part[] = parts
const known: readonly TargetKind[] = [
  ...(isLeftOut('command') ? [] : [(await import('./targets/command/kind.ts')).commandKind]),
  ...(isLeftOut('http') ? [] : [(await import('./targets/http/kind.ts')).httpKind]),
  handlerKind,
  ...each.flatMap((part) => part.kinds ?? []),
]

/** Kind names reserved for later versions, and those that are left out. A target with one is refused with that reason. */
const closed = ['command', 'http', 'agent', 'inbox'].filter((name) => !known.some((kind) => kind.name === name))

export const kinds: readonly TargetKind[] = [
  ...known,
  ...closed.map((name) => ({
    name,
    called: `the kind ${name}`,
    form: z.strictObject({}),
    problems: () => [],
    words: () => name,
    flags: [],
    startsPrograms: true as const,
    closed: whyClosed(name),
  })),
]

function whyClosed(name: string): string {
  const feature = name === 'command' || name === 'http' ? name : 'agents'
  return isLeftOut(feature) ? leftOutBy(feature) : 'is a kind that this version cannot execute yet'
}

/** The messages that runs of parts send. Links in them begin with `publicUrl`. */
export function messagesOf(publicUrl: string | undefined): MessageOf {
  return messagesBy(Object.assign({}, ...each.map((part) => part.messages ?? {})), publicUrl)
}
