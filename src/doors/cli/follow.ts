import { pause } from '../../core/clock.ts'
import { exitOk } from '../../operations/error-codes.ts'
import { nouns } from '../../table.ts'
import type { Reader } from './reader.ts'
import { asPutOut } from './tell.ts'
import type { Session, World } from './world.ts'

/** A worker writes what is put out every 250 ms at most, so that looking more often finds nothing new. */
const lookMs = 250

interface Following {
  readonly session: Session
  readonly world: World
  readonly reader: Reader
  readonly isJson: boolean
}

interface Shown {
  readonly attempt: number
  readonly text: string
}

/**
 * Writes what a run puts out, as it comes, until the run has ended or is parked, or nobody reads any more; as lines of
 * JSON for programs.
 */
export async function followOutput(
  input: Readonly<Record<string, unknown>>,
  { session, world, reader, isJson }: Following,
): Promise<number> {
  const { get, output } = nouns.run.operations
  let shown: Shown | null = null
  while (!reader.isGone) {
    // The run first: what it put out before it ended is then in the output that is read behind it.
    const run = await session.call(get, { id: input.id })
    const found = await session.call(output, input)
    if (found !== null) shown = show({ attempt: found.fence, text: found.text }, shown, world, isJson)
    if (run.end !== null || run.parked !== null) {
      const how = run.end?.status ?? 'parked'
      if (!isJson) world.stderr.write(`${run.id} is ${how}\n`)
      return exitOk
    }
    await pause(world.clock, lookMs)
  }
  return exitOk
}

function show(found: Shown, before: Shown | null, world: World, isJson: boolean): Shown {
  const { stdout, stderr } = world
  const isSame = before !== null && before.attempt === found.attempt
  if (before !== null && !isSame && !isJson) stderr.write(`attempt ${found.attempt}\n`)
  const known = isSame ? knownLength(before.text, found.text) : 0
  const fresh = found.text.slice(known)
  if (fresh === '') return found
  stdout.write(isJson ? `${JSON.stringify({ attempt: found.attempt, text: fresh })}\n` : asPutOut(fresh, world))
  return found
}

const tailLength = 1_000

/** Where what is new begins. Once the middle is dropped the text is not a longer one any more; its end is looked for. */
function knownLength(before: string, now: string): number {
  if (now.startsWith(before)) return before.length
  const tail = before.slice(-tailLength)
  const at = now.lastIndexOf(tail)
  return at < 0 ? 0 : at + tail.length
}
