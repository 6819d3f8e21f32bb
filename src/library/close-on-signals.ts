import type { BelfryError } from '../core/error.ts'

/** What is told to end, and to end faster. */
export interface Endable {
  close(): Promise<void>
  stop(options: { graceMs: number }): Promise<void>
}

const signals = ['SIGTERM', 'SIGINT'] as const

/**
 * Ends with the process: the first signal takes no more work and lets what runs come to its end within the grace, the
 * second does not wait any longer. The answer takes it back. When all has ended nothing keeps the process alive.
 */
export function closeOnSignals(belfry: Endable, failed: (error: BelfryError) => void): () => void {
  let isClosing = false
  const forget = () => {
    for (const signal of signals) process.off(signal, end)
  }
  const end = () => {
    const ending = isClosing ? belfry.stop({ graceMs: 0 }) : belfry.close().finally(forget)
    isClosing = true
    ending.catch(failed)
  }
  for (const signal of signals) process.on(signal, end)
  return forget
}
