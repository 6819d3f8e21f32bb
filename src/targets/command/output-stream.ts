import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { systemClock } from '../../core/clock.ts'
import { redactor } from '../redact.ts'
import type { Secret } from '../secret.ts'

/** What a pipe can still hold when its writers are gone is far less; more comes from somebody who has no part in this. */
const lastBytesMax = 1024 * 1024
const silenceMsMax = 200

export interface Listening {
  /** Takes in what is still in the pipe, its writers being gone, and resolves when all has been said. */
  finish(): Promise<void>
}

export interface ListenInput {
  readonly stream: Readable
  readonly secrets: readonly Secret[]
  /** Takes the text, piece by piece: no character is cut in two, and no secret is in it. */
  say(text: string): void
  /** Resolves when there is room for more. Until then nothing is read, and the pipe makes the writer wait. */
  drained(): Promise<void>
}

/** Turns the bytes of a program into text. What is no UTF-8 becomes the replacement character. */
export function listen({ stream, secrets, say, drained }: ListenInput): Listening {
  const decoder = new StringDecoder('utf8')
  const redacting = redactor(secrets)
  let lastBytes: number | null = null
  let takeBack: () => void = () => undefined
  // A process that left the group may hold the pipe open for ever, so silence is taken for the end.
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
  // A pipe that breaks is a pipe that ends; `close` follows.
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
