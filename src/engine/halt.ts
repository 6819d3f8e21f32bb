import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** What keeps a worker from starting anything, whatever the store says. */
export interface HaltOptions {
  /** Why this process fires and leases nothing for as long as it lives. */
  readonly disabled?: string | undefined
  /** While this file exists, the process fires and leases nothing. Its first line is the reason. */
  readonly stopFile?: string | undefined
}

const readBytesMax = 1_024
const reasonLengthMax = 200

/** How often the worker checks whether its machine is stopped. */
const lookMs = 1_000

export interface HaltEvents {
  /** Called with the reason when starts are stopped, and with `null` when they are allowed again. */
  readonly changed: (reason: string | null) => void
}

/**
 * Whether a worker may start anything. The answer depends on its process and machine alone, so it is known even while the store does
 * not answer.
 */
export class Halt {
  readonly #options: HaltOptions & HaltEvents
  #reason: string | null

  constructor(options: HaltOptions & HaltEvents) {
    this.#options = options
    this.#reason = options.disabled ?? null
  }

  /** Why nothing is started now; `null` where starts are allowed. */
  get reason(): string | null {
    return this.#reason
  }

  /** Checks once before the first start. */
  async begin(): Promise<void> {
    const { disabled, stopFile } = this.#options
    if (disabled === undefined && stopFile !== undefined) this.#reason = await reasonIn(stopFile)
  }

  async tick(): Promise<number | null> {
    const { disabled, stopFile, changed } = this.#options
    if (disabled !== undefined || stopFile === undefined) return null
    const before = this.#reason
    this.#reason = await reasonIn(stopFile)
    if (this.#reason !== before) changed(this.#reason)
    return lookMs
  }
}

/** Why nothing is started now, from a single check. */
export async function haltReason({ disabled, stopFile }: HaltOptions): Promise<string | null> {
  return disabled ?? (stopFile === undefined || !mayBeThere(stopFile) ? null : reasonIn(stopFile))
}

/** A caller asks on each request, and an open of a missing file by the thread pool takes as long as a lease. */
function mayBeThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // What cannot be looked at is for `reasonIn` to say.
    return true
  }
}

/** A file that exists and cannot be read is a stop too: a person put it there. */
async function reasonIn(path: string): Promise<string | null> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    const { buffer, bytesRead } = await file.read(Buffer.alloc(readBytesMax), 0, readBytesMax, 0)
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split(/\r?\n/, 1)
    const said = line.replaceAll('\0', '').toWellFormed().trim().slice(0, reasonLengthMax)
    return said === '' ? path : `${path}: ${said}`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : `${path} (${code})`
  } finally {
    await file?.close()
  }
}
