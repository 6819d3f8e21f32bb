/** The signals that end a process, and the exit code by which a shell knows each. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
const signals = Object.keys(exitCodes) as (keyof typeof exitCodes)[]

/** What the signals that end a process ask for: first an end in good order, then an end at once. */
export interface Ending {
  /** Comes with the exit code of a process that a signal has ended. */
  readonly first: Promise<number>
  readonly isAsked: boolean
  onSecond(act: (exit: number) => void): void
  /** As if a signal had come. */
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
