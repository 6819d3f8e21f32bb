import { exitOk } from '../../../operations/error-codes.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import type { Session, World } from '../world.ts'
import type { Reader } from './output-reader.ts'
import { asPutOut } from './show-answer.ts'

interface Followed {
  readonly operation: AnyOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly session: Session
}

interface Manner {
  readonly world: World
  readonly reader: Reader
  readonly isJson: boolean
}

/** Prints output as it comes, until it ends or the reader closes; for programs as lines of JSON. */
export async function followOutput(
  { operation, input, session }: Followed,
  { world, reader, isJson }: Manner,
): Promise<number> {
  const { stdout, stderr, clock } = world
  const pieces = operation.follow?.(session.call, input, clock)
  let attempt: number | null = null
  while (pieces !== undefined && !reader.isGone) {
    const { done, value } = await pieces.next()
    if (done === true) {
      if (!isJson) stderr.write(`${value}\n`)
      return exitOk
    }
    if (value.text === '') continue
    if (attempt !== null && attempt !== value.attempt && !isJson) stderr.write(`attempt ${value.attempt}\n`)
    attempt = value.attempt
    stdout.write(isJson ? `${JSON.stringify(value)}\n` : asPutOut(value.text, world))
  }
  return exitOk
}
