import { Anchors } from './anchor.ts'
import type { Copy } from './copy.ts'
import { breakIn, type Mutant, misfits, type Suite, suitesOf } from './mutant.ts'
import { runTests, suiteText, type TestRun } from './tests.ts'

/** How a breakage fared. Only `caught` is good: the suites have seen it. */
export type Fate = 'caught' | 'caught (hung)' | 'survived' | 'misfit' | 'meaningless'

export interface Judged {
  readonly id: string
  readonly hazard: string
  readonly fate: Fate
  /** The test that failed, or why the breakage could not be judged. */
  readonly by: string
  readonly file: string
  readonly message: string
  readonly seconds: number
}

export interface Court {
  readonly copy: Copy
  readonly postgresUrl: string
  /** How long each suite takes while nothing is broken. */
  readonly baselineMs: ReadonlyMap<string, number>
  /** When all the tests are asked: before anything is called a survivor, in the first place, or not at all. */
  readonly asksAll: 'last' | 'first' | 'never'
  readonly stop: AbortSignal
}

const testMsMin = 12_000
const wallMsMin = 60_000
const wideMsMax = 1_500_000

/** What is about words and layout, and would find the breakage itself instead of what it breaks. */
const aboutWords = [
  'test/mutants.test.ts',
  'test/promises.test.ts',
  'test/tidy.test.ts',
  'test/readme.test.ts',
  'test/bench.test.ts',
  'test/operations/reference.test.ts',
  'test/doors/cli/reference.test.ts',
]

/** Breaks the copy, asks the suites that should notice, and mends it again. */
export async function judge(mutant: Mutant, court: Court): Promise<Judged> {
  const startedAt = performance.now()
  const { id, hazard } = mutant
  const found = await fateOf(mutant, court)
  return { id, hazard, ...found, seconds: Math.round((performance.now() - startedAt) / 100) / 10 }
}

type Found = Pick<Judged, 'fate' | 'by' | 'file' | 'message'>

async function fateOf(mutant: Mutant, court: Court): Promise<Found> {
  const anchors = new Anchors(court.copy.root)
  const wrong = misfits(mutant, anchors)
  if (wrong.length > 0) return { fate: 'misfit', by: wrong.join('; '), file: '', message: '' }
  const mend = breakIn(court.copy.root, mutant, anchors)
  try {
    const nonsense = await court.copy.build()
    if (nonsense !== null) return { fate: 'meaningless', by: nonsense, file: '', message: '' }
    const named = court.asksAll === 'first' ? [] : suitesOf(mutant)
    for (const suite of named) {
      const caught = caughtIn(await runSuite(suite, court), suite.file)
      if (caught !== null) return caught
    }
    return court.asksAll === 'never' ? survived : await askAll(court)
  } finally {
    mend()
  }
}

const survived: Found = { fate: 'survived', by: 'nobody noticed', file: '', message: '' }

async function runSuite(suite: Suite, { copy, postgresUrl, baselineMs, stop }: Court): Promise<TestRun> {
  const usualMs = baselineMs.get(suiteText(suite)) ?? testMsMin / 4
  if (suite.file.startsWith('test/e2e/')) await copy.bundle()
  return runTests({
    copy,
    postgresUrl,
    files: [suite.file],
    only: suite.only,
    testMsMax: Math.max(testMsMin, 4 * usualMs),
    wallMsMax: Math.max(wallMsMin, 10 * usualMs),
    bail: true,
    stop,
  })
}

/** Everything that looks at what the product does. */
async function askAll({ copy, postgresUrl, stop }: Court): Promise<Found> {
  await copy.bundle()
  const all = { copy, postgresUrl, testMsMax: 120_000, wallMsMax: wideMsMax, bail: true, stop, exclude: aboutWords }
  return caughtIn(await runTests({ ...all, files: [] }), 'test') ?? survived
}

/** A run that fails without a failing test was failed by an error that nobody expected, which is a finding as well. */
function caughtIn({ tests, hung, exitCode, said }: TestRun, file: string): Found | null {
  const failed = tests.find(({ passed }) => !passed)
  if (failed !== undefined) {
    // The runner puts its own mark in place of the words when a test takes too long.
    const fate = /timed out in \d+ms|STACK_TRACE_ERROR/.test(failed.message) ? 'caught (hung)' : 'caught'
    return { fate, by: failed.name, file: failed.file, message: failed.message.split('\n')[0] ?? '' }
  }
  if (hung) return { fate: 'caught (hung)', by: 'it never came to its end', file, message: '' }
  if (exitCode !== 0) return { fate: 'caught', by: 'an error that no test expected', file, message: said.slice(-500) }
  if (tests.length === 0) return { fate: 'meaningless', by: `no test of ${file} ran`, file, message: said.slice(-500) }
  return null
}
