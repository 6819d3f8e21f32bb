import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'

/** What was kept of a body. */
export interface KeptBody {
  readonly bytes: Buffer
  /** There was more. */
  readonly isTruncated: boolean
}

/** What a coding adds at most to bytes that it cannot make smaller, generously. */
const codingBytesMax = 64 * 1024

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
}

/** The one coding we cannot read, or `null` when we can read them all. */
export function unreadableCoding(coding: string): string | null {
  const name = coding.trim().toLowerCase()
  return name === '' || name === 'identity' || Object.hasOwn(decoders, name) ? null : name
}

/**
 * Reads a body up to a number of decoded bytes, then stops reading: what goes on for ever or unpacks to more than memory
 * holds takes no more than that. Nor does a coding that needs ever more bytes to say nothing.
 */
export async function keptBody(body: Readable, coding: string, bytesMax: number): Promise<KeptBody> {
  const decoder = decoders[coding.trim().toLowerCase()]
  if (decoder === undefined) return kept(body, bytesMax)
  const meter = new Meter(bytesMax + codingBytesMax)
  const decoded = pipeline(
    body,
    (source) => meter.passed(source),
    decoder(),
    () => undefined,
  )
  const chunks: Buffer[] = []
  try {
    return await kept(decoded, bytesMax, chunks)
  } catch (error) {
    if (meter.isFull) return { bytes: Buffer.concat(chunks), isTruncated: true }
    // What has no body at all, as the answer to HEAD, may still say how it would be coded.
    if (meter.bytes === 0 && (error as { code?: unknown }).code === 'Z_BUF_ERROR') return nothing
    throw error
  }
}

const nothing: KeptBody = { bytes: Buffer.alloc(0), isTruncated: false }

/** Leaving the loop early destroys the stream, and with it the connection it comes from. */
async function kept(stream: AsyncIterable<Buffer>, bytesMax: number, chunks: Buffer[] = []): Promise<KeptBody> {
  let bytes = 0
  for await (const chunk of stream) {
    const room = bytesMax - bytes
    chunks.push(chunk.subarray(0, room))
    bytes += chunk.length
    if (chunk.length > room) return { bytes: Buffer.concat(chunks), isTruncated: true }
  }
  return { bytes: Buffer.concat(chunks), isTruncated: false }
}

/** Counts what goes through it, and lets no more through than it was told. */
class Meter {
  readonly #bytesMax: number
  bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get isFull(): boolean {
    return this.bytes > this.#bytesMax
  }

  async *passed(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.bytes += chunk.length
      if (this.isFull) throw new Error('the coding has no end')
      yield chunk
    }
  }
}

/** The text of a body in the charset it names; UTF-8 when it names none that we know. */
export function textOf({ bytes, isTruncated }: KeptBody, contentType: string): string {
  // Where it was cut, a character may be cut as well: as part of a stream its beginning is left out.
  return decoderFor(contentType).decode(bytes, { stream: isTruncated })
}

function decoderFor(contentType: string): InstanceType<typeof TextDecoder> {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}
