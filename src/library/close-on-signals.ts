import type { BelfryError } from '../core/error.ts'

export interface Endable {
  close(): Promise<void>
  stop(options: { graceMs: number }): Promise<void>
}

const signals = ['SIGTERM', 'SIGINT'] as const

/**
 * Closes on signals: the first one stops leasing and lets runs finish within the grace period, the second does not wait any
 * longer. Call the returned function to undo. When all has ended nothing keeps the process alive.
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
