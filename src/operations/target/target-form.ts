import { z } from 'zod'
import { formatDuration } from '../../core/duration.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { secretForm as secret } from '../../targets/secret-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { offeredKinds } from './target-input.ts'

export const secretForm = noted(secret, { id: 'Secret' })

/** Target forms for JSON Schemas. Each kind reports its own problems, more exactly than a union could; a test compares the two. */
export function targetForm(kinds: readonly TargetKind[]): z.ZodType {
  const forms = offeredKinds(kinds).map(({ form }) => form)
  return noted(z.union(forms).describe('What a run does.'), { id: 'Target' })
}

/** A target as it is stored and answered. */
export const targetStored = noted(z.record(z.string(), z.unknown()), { form: targetForm }).describe(
  'What the run does, with relative paths resolved.',
)

/** Placeholders that the target kinds fill in a description: `{kinds}`, `{notice kinds}` and `{timeouts}`. */
export function withKinds(text: string, kinds: readonly TargetKind[]): string {
  const offered = offeredKinds(kinds)
  const called = offered.map((kind) => kind.called)
  const sending = offeredKinds(kinds, { sends: 'messages' }).map((kind) => kind.called)
  const timeouts = offered.map(
    (kind) => `${kind.timeoutMs === undefined ? 'no timeout' : formatDuration(kind.timeoutMs)} for ${kind.called}`,
  )
  return text
    .replace('{kinds}', listed(called, 'and'))
    .replace('{message kinds}', listed(sending, 'or'))
    .replace('{timeouts}', timeouts.join(', '))
}

function listed(words: readonly string[], last: string): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}
