import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'

export interface KeptBody {
  readonly bytes: Buffer
  /** Whether the body was longer than the limit. */
  readonly isTruncated: boolean
}

/** A generous bound for what a coding adds to incompressible bytes. */
const codingBytesMax = 64 * 1024

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createUnzip,
  'x-gzip': createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
}

/** The first unknown coding, or `null` when all are known. */
export function unreadableCoding(coding: string): string | null {
  const name = coding.trim().toLowerCase()
  return name === '' || name === 'identity' || Object.hasOwn(decoders, name) ? null : name
}

/**
 * Reads a body up to a number of decoded bytes, then stops reading: an endless body, or one that unpacks to more than memory
 * holds, takes no more memory than the limit. Neither does a coding that uses more and more bytes to encode nothing.
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
    // A response without a body, as to HEAD, may still name a coding.
    if (meter.bytes === 0 && (error as { code?: unknown }).code === 'Z_BUF_ERROR') return nothing
    throw error
  }
}

const nothing: KeptBody = { bytes: Buffer.alloc(0), isTruncated: false }

/** Leaving the loop early destroys the stream, and with it its connection. */
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

/** Counts the bytes that pass, and stops at a limit. */
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
      if (this.isFull) throw new Error('the content coding never ends')
      yield chunk
    }
  }
}

/** The text of a body in its charset; UTF-8 when it names none that we know. */
export function textOf({ bytes, isTruncated }: KeptBody, contentType: string): string {
  // A cut may split a character: in stream mode the decoder drops the split character.
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
