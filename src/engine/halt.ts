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
  /** Called with why nothing is started, and with `null` once everything may be again. */
  readonly changed: (reason: string | null) => void
}

/** Whether a worker may start anything, asked of its process and its machine alone: it also works while the store does not answer. */
export class Halt {
  readonly #options: HaltOptions & HaltEvents
  #reason: string | null

  constructor(options: HaltOptions & HaltEvents) {
    this.#options = options
    this.#reason = options.disabled ?? null
  }

  /** Why nothing is started now; `null` where everything may be. */
  get reason(): string | null {
    return this.#reason
  }

  /** Looks before the first start. */
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

/** Why nothing is started now, asked once. */
export async function haltReason({ disabled, stopFile }: HaltOptions): Promise<string | null> {
  return disabled ?? (stopFile === undefined ? null : reasonIn(stopFile))
}

/** A file that is there and cannot be read stops as well: a person put it there. */
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
