import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { readNames } from '../../core/agent/profile.ts'
import { systemClock } from '../../core/clock.ts'
import { reasonText } from '../../core/reason-text.ts'
import { traceparentOf } from '../../core/trace.ts'
import type { Store } from '../../store/port.ts'
import type { Attempt } from '../../targets/attempt.ts'
import { environmentOf } from '../../targets/command/environment.ts'
import { secretResolver } from '../../targets/secret.ts'
import { agentExecutor } from './agent-executor.ts'
import type { Checked } from './agent-verbs.ts'
import { checkSource, programProblem } from './profile-cache.ts'
import type { AgentProfile } from './profile-form.ts'

const versionMsMax = 10_000
const liveMsMax = 120_000
const livePrompt = 'Answer with the one word: ok'

type Found = Pick<Checked, 'found' | 'version' | 'problem' | 'live'>

interface Checking {
  readonly store: Store
  readonly isLive: boolean
}

/** Whether this machine has the program of a profile, which version it reports, and whether its output has what the profile reads. */
export async function checkedProgram(profile: AgentProfile, { store, isLive }: Checking): Promise<Found> {
  const { name, install } = profile
  const problem = await programProblem(profile, process.env)
  if (problem !== null) {
    const get = install === undefined ? '' : ` Get it: ${install}.`
    const where = `Or set its path in belfry.yaml, which begins with a line such as \`source: here\`: \`agents: { ${name}: { program: /path/to/it } }\`.`
    return { found: false, version: null, problem: `${problem}${get} ${where}` }
  }
  const version = await versionOf(profile)
  const live = isLive ? { live: await seenLive(profile, store) } : {}
  return { found: true, version, problem: null, ...live }
}

function versionOf(profile: AgentProfile): Promise<string | null> {
  const { argv, version = ['--version'] } = profile
  const env = environmentOf(trial(profile, new AbortController().signal), {}, process.env)
  return new Promise((resolve) => {
    execFile(argv[0], [...version], { timeout: versionMsMax, env, maxBuffer: 65_536 }, (error, stdout, stderr) => {
      const line = `${stdout}\n${stderr}`.trim().split('\n')[0] ?? ''
      resolve(error !== null || line === '' ? null : reasonText(line, 100))
    })
  })
}

/** Sends a tiny prompt as a run would, and compares the answer with what the profile reads. */
async function seenLive(profile: AgentProfile, store: Store): Promise<NonNullable<Checked['live']>> {
  const secrets = secretResolver({ env: process.env, folder: join(dirname(store.place), 'secrets') })
  const { named } = await agentExecutor({ store, secrets })
  const stop = new AbortController()
  const cancel = systemClock.after(liveMsMax, () => stop.abort('timeout'))
  const ended = await named?.get(profile.name)?.(trial(profile, stop.signal))
  cancel()
  const { usage, ...result } = (ended?.result ?? {}) as Readonly<Record<string, unknown>> & { usage?: object }
  const facts: Readonly<Record<string, unknown>> = { ...result, ...usage }
  const read = promised(profile).filter((fact) => facts[factNames[fact] ?? fact] !== undefined)
  const error = ended?.facts.error
  return {
    answered: ended !== undefined && error === undefined,
    ...(error !== undefined && { error }),
    read,
    unread: promised(profile).filter((fact) => !read.includes(fact)),
  }
}

/** The name of each fact in the result of a run. */
const factNames: Readonly<Record<string, string>> = { session: 'sessionId', final: 'text', cost: 'money' }
/** Facts that some answers lack. */
const occasional: readonly string[] = [
  'done',
  'say',
  'tools',
  'denials',
  'utilisation',
  'window',
  'reset',
  'tokensCached',
]

function promised({ read }: AgentProfile): string[] {
  return readNames.filter((name) => read[name] !== undefined && !occasional.includes(name))
}

/** An attempt that belongs to no run: the store keeps nothing of it. */
function trial({ name }: AgentProfile, signal: AbortSignal): Attempt {
  const claimId = randomBytes(16).toString('hex')
  return {
    runId: 'r-0',
    fence: 1,
    claimId,
    queue: 'default',
    scheduleId: null,
    plannedAt: systemClock.now(),
    source: checkSource,
    idempotencyKey: claimId,
    traceparent: traceparentOf({ given: undefined, seed: claimId }),
    target: { agent: { profile: name, prompt: livePrompt } },
    payload: undefined,
    signal,
    clock: systemClock,
    output: () => undefined,
    account: null,
    utilisation: () => undefined,
    usage: () => undefined,
    state: () => undefined,
    drained: async () => undefined,
  }
}
