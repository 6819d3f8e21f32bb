import { resolve } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { cron } from '../core/cron/cron.ts'
import { CronError } from '../core/cron/cron-error.ts'
import { readWhole } from '../operations/input.ts'
import { noted } from '../operations/note.ts'
import { type Problem, refuse } from '../operations/problem.ts'
import type { NetworkPolicy } from '../targets/http/network.ts'
import type { LogOption } from './log.ts'

const ms = noted(z.int().min(1), { expected: 'a whole number of ms, 1 or more' })
const count = z.int().min(1).max(1_000_000)

const clock = noted(z.custom<Clock>(isClock), { expected: 'a clock with now, monotonic and after, such as TestClock' })
const log = noted(z.custom<LogOption>(isLog), { expected: 'false, a pino logger, or options for one' })
const network = z.strictObject({
  allowLoopback: z.boolean().optional(),
  allowPrivate: z.boolean().optional(),
  allowHosts: z.array(z.string()).readonly().optional(),
}) satisfies z.ZodType<NetworkPolicy>

export const openInput = z.strictObject({
  /** `sqlite:PATH`, `memory:`, or `postgres://…`. */
  store: z.string().min(1).optional(),
  namespace: z.string().optional(),
  /** The PostgreSQL schema that holds Belfry's tables. */
  schema: z.string().optional(),
  connectionsMax: z.int().min(1).optional(),
  /** PostgreSQL settings that may lose acknowledged work are refused unless this is set. */
  allowNonDurable: z.boolean().optional(),
  /** In place of the machine's clock, for tests; refused beside other live workers. */
  clock: clock.optional(),
  /** Names this process for people: as a worker, and as who did what. */
  name: z.string().min(1).max(200).optional(),
  /** Without it, warnings and errors go to stderr. */
  log: log.optional(),
  /** Which addresses HTTP targets may call. */
  network: network.optional(),
  /** The folder with one file a secret. */
  secretsFolder: z.string().min(1).optional(),
  leaseMs: ms.optional(),
  renewMs: ms.optional(),
  beatMs: ms.optional(),
  pollMs: ms.optional(),
})

/** What Belfry is opened with. */
export type OpenOptions = z.input<typeof openInput>

export type Environment = Readonly<Record<string, string | undefined>>

/** What Belfry is opened with once nothing is left to default. */
export interface Opening extends Omit<z.output<typeof openInput>, 'store' | 'secretsFolder'> {
  readonly store: string
  readonly secretsFolder: string
  /** Of a cron that names none. */
  readonly zone: string
  readonly defaultMaxConcurrent: number
}

const storeDefault = 'sqlite:./.belfry/belfry.db'
const secretsFolderDefault = './.belfry/secrets'
const maxConcurrentDefault = 5

/** Reads the options, and what the environment says besides. */
export function openingOf(options: unknown, environment: Environment): Opening {
  const value = readWhole(openInput, options, { subject: 'Belfry.open', noun: 'the options of Belfry.open' })
  const problems: Problem[] = []
  const opening = {
    ...value,
    store: value.store ?? storeDefault,
    secretsFolder: resolve(value.secretsFolder ?? secretsFolderDefault),
    zone: zoneOf(environment.BELFRY_ZONE, problems),
    defaultMaxConcurrent: ceilingOf(environment.BELFRY_MAX_CONCURRENT, problems),
  }
  refuse('The environment', problems)
  return opening
}

function zoneOf(given: string | undefined, problems: Problem[]): string {
  if (given === undefined || given === '') return new Intl.DateTimeFormat().resolvedOptions().timeZone
  try {
    cron('0 0 * * *', given)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    problems.push({ field: 'BELFRY_ZONE', problem: `is wrong: ${error.reason}`, expected: error.expected })
  }
  return given
}

function ceilingOf(given: string | undefined, problems: Problem[]): number {
  if (given === undefined || given === '') return maxConcurrentDefault
  const parsed = count.safeParse(/^\d+$/.test(given) ? Number(given) : given)
  if (parsed.success) return parsed.data
  const problem = `is ${JSON.stringify(given.slice(0, 60))}`
  problems.push({ field: 'BELFRY_MAX_CONCURRENT', problem, expected: 'an integer from 1 to 1000000' })
  return maxConcurrentDefault
}

function isClock(given: unknown): boolean {
  const dials = given as Partial<Clock> | null | undefined
  return [dials?.now, dials?.monotonic, dials?.after].every((dial) => typeof dial === 'function')
}

function isLog(given: unknown): boolean {
  return given === false || (typeof given === 'object' && given !== null && !Array.isArray(given))
}
