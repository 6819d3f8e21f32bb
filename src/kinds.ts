import { z } from 'zod'
import type { Part } from './part.ts'
import { parts } from './parts.ts'
import { commandKind } from './targets/command/kind.ts'
import { handlerKind } from './targets/handler/kind.ts'
import { httpKind } from './targets/http/kind.ts'
import type { TargetKind } from './targets/kind.ts'
import { type MessageOf, messagesBy } from './targets/message.ts'

const each: readonly Part[] = parts
const known: readonly TargetKind[] = [
  ...[commandKind, httpKind, handlerKind],
  ...each.flatMap((part) => part.kinds ?? []),
]

/** Kind names reserved for later versions. A target with one is refused with that reason. */
const announced = ['agent', 'inbox'].filter((name) => !known.some((kind) => kind.name === name))

export const kinds: readonly TargetKind[] = [
  ...known,
  ...announced.map((name) => ({
    name,
    called: `the kind ${name}`,
    form: z.strictObject({}),
    problems: () => [],
    words: () => name,
    flags: [],
    startsPrograms: true as const,
    closed: 'is a kind that this version cannot execute yet',
  })),
]

/** The messages that runs of parts send. Links in them begin with `publicUrl`. */
export function messagesOf(publicUrl: string | undefined): MessageOf {
  return messagesBy(Object.assign({}, ...each.map((part) => part.messages ?? {})), publicUrl)
}
