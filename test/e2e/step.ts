/** What a step has to go by: the ids that the steps before it were answered with. */
export interface Known {
  readonly [name: string]: string
}

export interface Step {
  /** What is typed; the flags of the store are added to it. */
  readonly words: (known: Known) => readonly string[]
  readonly exit: number
  /** Keeps an id of the answer under this name. */
  readonly keeps?: string
  /** What is piped in. */
  readonly stdin?: string
  /** Whether the answer for people has nothing in it that only one of the two databases could say. */
  readonly isShown: boolean
}

interface Manner {
  readonly exit?: number
  readonly keeps?: string
  readonly stdin?: string
  readonly isShown?: false
}

/** A step that may name what was kept: `run show {first}`. */
export function step(line: string, { exit = 0, keeps, stdin, isShown }: Manner = {}): Step {
  const words = (known: Known) =>
    line.split(' ').map((word) => word.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? ''))
  return {
    words,
    exit,
    ...(keeps !== undefined && { keeps }),
    ...(stdin !== undefined && { stdin }),
    isShown: isShown ?? !/^(doctor|worker)/.test(line),
  }
}
