import { open, readdir } from 'node:fs/promises'

/** What Linux reports about one process. */
export interface ProcessRow {
  readonly pid: number
  /** One letter; see `isOver`. */
  readonly state: string
  readonly parent: number
  readonly group: number
  /** In ticks of 10 ms since boot. With the pid it identifies one process for ever. */
  readonly startTicks: number
}

/** The kernel counts a process's start in hundredths of a second, whatever its own tick is. */
export const msPerTick = 10
const rowBytesMax = 4_096
/** How many files are read at once: enough for the threads that read files; more would only wait. */
const readsAtOnce = 16

/** Whether a process is a zombie: it has ended and waits for its parent. */
export function isOver({ state }: ProcessRow): boolean {
  return state === 'Z' || state === 'X' || state === 'x'
}

/** The process now, or `null` when no process has that pid. */
export async function processRow(pid: number): Promise<ProcessRow | null> {
  const text = (await startOfFile(`/proc/${pid}/stat`, rowBytesMax))?.toString('latin1')
  if (text === undefined) return null
  // The name of the program is in brackets and may itself contain blanks and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state = 'X', parent, group] = fields
  return { pid, state, parent: Number(parent), group: Number(group), startTicks: Number(fields[19]) }
}

/** Checks all processes, some at a time and off the event loop, and returns what was found. Outside Linux it finds nothing. */
export async function amongProcesses<Found>(look: (pid: number) => Promise<Found | null>): Promise<Found[]> {
  const pids = await numbersIn('/proc')
  const found: Found[] = []
  const lookOn = async () => {
    for (let pid = pids.pop(); pid !== undefined; pid = pids.pop()) {
      const one = await look(pid)
      if (one !== null) found.push(one)
    }
  }
  await Promise.all(Array.from({ length: readsAtOnce }, lookOn))
  return found
}

async function numbersIn(folder: string): Promise<number[]> {
  try {
    return (await readdir(folder)).filter((name) => /^\d+$/.test(name)).map(Number)
  } catch {
    // Outside Linux there is no /proc.
    return []
  }
}

/** The beginning of a kernel file, whose length is not known before; `null` when it is gone or not readable. */
export async function startOfFile(path: string, bytesMax: number): Promise<Buffer | null> {
  try {
    const file = await open(path, 'r')
    try {
      return await readUpTo(file, bytesMax)
    } finally {
      await file.close()
    }
  } catch {
    // Processes end meanwhile, and those of other users are not readable.
    return null
  }
}

async function readUpTo(file: Awaited<ReturnType<typeof open>>, bytesMax: number): Promise<Buffer> {
  const pieceBytes = Math.min(bytesMax, 16_384)
  const pieces: Buffer[] = []
  for (let bytes = 0; bytes < bytesMax; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, bytes)
    if (bytesRead === 0) break
    pieces.push(buffer.subarray(0, bytesRead))
    bytes += bytesRead
  }
  return Buffer.concat(pieces)
}
