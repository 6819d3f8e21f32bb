/** The signals that end a process, with the exit code that a shell expects for each. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
const signals = Object.keys(exitCodes) as (keyof typeof exitCodes)[]

/** The first signal asks for a clean stop, the second for an immediate one. */
export interface Ending {
  /** Resolves with the exit code for the signal. */
  readonly first: Promise<number>
  readonly isAsked: boolean
  onSecond(act: (exit: number) => void): void
  /** Acts as if a signal had arrived. */
  ask(): void
  forget(): void
}

export function endingBySignals(): Ending {
  let isAsked = false
  let hurry: (exit: number) => void = () => undefined
  let end: (exit: number) => void = () => undefined
  const first = new Promise<number>((resolve) => {
    end = resolve
  })
  const heard = (signal: keyof typeof exitCodes) => {
    if (isAsked) return hurry(exitCodes[signal])
    isAsked = true
    end(exitCodes[signal])
  }
  for (const signal of signals) process.on(signal, heard)
  return {
    first,
    get isAsked() {
      return isAsked
    },
    onSecond(act) {
      hurry = act
    },
    ask: () => heard('SIGTERM'),
    forget() {
      for (const signal of signals) process.off(signal, heard)
    },
  }
}
