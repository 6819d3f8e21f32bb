type Verb = (context: never, ...args: never[]) => unknown

/** The verbs of a noun, once it is settled what they work on. */
export type Bound<Verbs extends Readonly<Record<string, Verb>>> = {
  readonly [Name in keyof Verbs]: Verbs[Name] extends (context: never, ...args: infer Args) => infer Answer
    ? (...args: Args) => Answer
    : never
}

/** Hands the verbs of a noun their context, which is asked for at each call: it may be gone by then. */
export function bind<Context, Verbs extends Readonly<Record<string, (context: Context, ...args: never[]) => unknown>>>(
  verbs: Verbs,
  context: () => Context,
): Bound<Verbs> {
  const bound = Object.entries(verbs).map(([name, verb]) => {
    // Whatever goes wrong, also before the first await, is an answer of the promise.
    return [name, async (...args: never[]) => verb(context(), ...args)]
  })
  return Object.freeze(Object.fromEntries(bound)) as Bound<Verbs>
}
