import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { systemClock } from '../../core/clock.ts'
import { redactor } from '../redact.ts'
import type { Secret } from '../secret.ts'

/** A pipe without writers holds far less than this; more must come from a process outside the group. */
const lastBytesMax = 1024 * 1024
const silenceMsMax = 200

export interface Listening {
  /** Reads the rest of the pipe after its writers are gone, and resolves when all output was passed on. */
  finish(): Promise<void>
}

export interface ListenInput {
  readonly stream: Readable
  readonly secrets: readonly Secret[]
  /** Receives the text in pieces: no character is split, and secrets are redacted. */
  say(text: string): void
  /** Resolves when there is room for more. Until then nothing is read, and the pipe makes the writer wait. */
  drained(): Promise<void>
}

/** Turns the bytes of a program into text. Invalid UTF-8 becomes the replacement character. */
export function listen({ stream, secrets, say, drained }: ListenInput): Listening {
  const decoder = new StringDecoder('utf8')
  const redacting = redactor(secrets)
  let lastBytes: number | null = null
  let takeBack: () => void = () => undefined
  // A process that left the group may hold the pipe open for ever, so silence counts as the end.
  const awaitSilence = () => {
    takeBack()
    takeBack = systemClock.after(silenceMsMax, () => stream.destroy())
  }
  const closed = new Promise<void>((resolve) => stream.once('close', resolve))
  stream.on('data', (bytes: Buffer) => {
    utter(redacting.add(decoder.write(bytes)), say)
    if (lastBytes === null) return waitFor(drained, stream)
    lastBytes += bytes.length
    if (lastBytes > lastBytesMax) stream.destroy()
    else awaitSilence()
  })
  // A broken pipe has ended; `close` follows.
  stream.on('error', () => undefined)
  return {
    async finish() {
      lastBytes = 0
      awaitSilence()
      stream.resume()
      await closed
      takeBack()
      utter(redacting.add(decoder.end()) + redacting.end(), say)
    },
  }
}

function utter(text: string, say: (text: string) => void): void {
  if (text !== '') say(text)
}

function waitFor(drained: () => Promise<void>, stream: Readable): void {
  stream.pause()
  const goOn = () => {
    stream.resume()
  }
  drained().then(goOn, goOn)
}
