import type { Suite } from './mutant.ts'
import { type Ran, runTests, suiteText, type TestOptions } from './tests.ts'

export interface Baseline {
  /** How long each suite takes, by its text. */
  readonly ms: ReadonlyMap<string, number>
  /** Why nothing can be learned from these suites: they fail, or do nothing, while nothing is broken. */
  readonly problems: readonly string[]
}

type Place = Pick<TestOptions, 'copy' | 'postgresUrl' | 'stop'>

const testMsMax = 120_000
const wallMsMax = 900_000

/** Runs what the breakages name while nothing is broken: a suite that fails anyhow catches nothing. */
export async function baselineOf(suites: readonly Suite[], { copy, postgresUrl, stop }: Place): Promise<Baseline> {
  const whole = [...new Set(suites.filter(({ only }) => only === undefined).map(({ file }) => file))]
  const patterns = suites.filter(({ only }) => only !== undefined)
  const common = { copy, postgresUrl, testMsMax, wallMsMax, bail: false, stop }
  const runs = [
    ...(whole.length === 0 ? [] : [await runTests({ ...common, files: whole })]),
    ...(patterns.length === 0 ? [] : [await runTests({ ...common, ...together(patterns) })]),
  ]
  const tests = runs.flatMap((run) => run.tests)
  const failures = tests.filter(({ passed }) => !passed).map(({ name, message }) => `${name}: ${firstLine(message)}`)
  const broken = runs.filter(({ exitCode }) => exitCode !== 0).map(({ said }) => said.slice(-1_000))
  const ms = new Map(suites.map((suite) => [suiteText(suite), sumOf(tests.filter((test) => belongs(test, suite)))]))
  const idle = suites.filter((suite) => !tests.some((test) => belongs(test, suite)))
  return {
    ms,
    problems: [
      ...failures,
      ...(failures.length === 0 ? broken : []),
      ...idle.map((suite) => `no test ran in ${suiteText(suite)}`),
    ],
  }
}

function together(suites: readonly Suite[]): { files: string[]; only: string } {
  const only = [...new Set(suites.map((suite) => `(${suite.only})`))].join('|')
  return { files: [...new Set(suites.map(({ file }) => file))], only }
}

function belongs({ file, name }: Ran, suite: Suite): boolean {
  return file === suite.file && (suite.only === undefined || new RegExp(suite.only).test(name))
}

function sumOf(tests: readonly Ran[]): number {
  return tests.reduce((sum, { ms }) => sum + ms, 0)
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
