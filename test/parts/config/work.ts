import { Session } from 'node:inspector/promises'

export interface Work {
  /** How many calls of functions it took. A machine that is busy changes the time, and not this. */
  readonly calls: number
  /** How many of them were calls of a function with this name. */
  of(name: string): number
}

/** Counts what something costs. */
export async function workOf(act: () => Promise<unknown>): Promise<Work> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await act()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const counts = result.flatMap(({ functions }) =>
    functions.map(({ functionName: name, ranges }) => ({ name, calls: ranges[0]?.count ?? 0 })),
  )
  const sum = (some: typeof counts) => some.reduce((total, { calls }) => total + calls, 0)
  return { calls: sum(counts), of: (name) => sum(counts.filter((each) => each.name === name)) }
}
