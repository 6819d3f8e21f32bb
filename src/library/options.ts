import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { cron } from '../core/cron/cron.ts'
import { CronError } from '../core/cron/cron-error.ts'
import { isRecord } from '../core/json/record.ts'
import { storeUrlProblem } from '../core/store-url.ts'
import type { HaltOptions } from '../engine/engine.ts'
import { read } from '../operations/input/read-input.ts'
import { type Problem, refuse } from '../operations/input/refuse-input.ts'
import { noted } from '../operations/schema/schema-note.ts'
import { type NetworkPolicy, networkGuard } from '../targets/http/address-guard.ts'
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

const webAddress = noted(z.string().refine(isWebAddress), {
  expected: 'an http or https address without a query, such as https://belfry.example.org',
})

export const openInput = z.strictObject({
  store: z.string().min(1).optional(),
  namespace: z.string().optional(),
  schema: z.string().optional(),
  connectionsMax: z.int().min(1).optional(),
  allowNonDurable: z.boolean().optional(),
  clock: clock.optional(),
  name: z.string().min(1).max(200).optional(),
  log: log.optional(),
  network: network.optional(),
  secretsFolder: z.string().min(1).optional(),
  publicUrl: webAddress.optional(),
  leaseMs: ms.optional(),
  renewMs: ms.optional(),
  beatMs: ms.optional(),
  pollMs: ms.optional(),
}) satisfies z.ZodType<unknown, OpenOptions>

/** The options of `Belfry.open`. Written out, because a type computed from a schema has no comments. */
export interface OpenOptions {
  /** The store: `sqlite:PATH`, `postgres://…` or `memory:`. Default: `sqlite:./.belfry/belfry.db`. */
  readonly store?: string | undefined
  /** The tenant whose schedules, runs and queues these are. Default: `default`. */
  readonly namespace?: string | undefined
  /** The PostgreSQL schema that holds the tables of Belfry. Default: `belfry`. */
  readonly schema?: string | undefined
  /** The most connections to PostgreSQL that this process opens. */
  readonly connectionsMax?: number | undefined
  /** Whether PostgreSQL settings that may lose acknowledged work are accepted. Default: false. */
  readonly allowNonDurable?: boolean | undefined
  /** A clock in place of the machine's, for tests. Belfry refuses it beside other live workers. */
  readonly clock?: Clock | undefined
  /** The name of this process: as a worker, and in the audit. Default: host name and process id of a worker, else the user. */
  readonly name?: string | undefined
  /** A pino logger, options for one, or false for no log. Default: warnings and errors go to stderr. */
  readonly log?: LogOption | undefined
  /** The addresses that HTTP targets may call. Default: all but private networks and cloud metadata services. */
  readonly network?: NetworkPolicy | undefined
  /** The folder with one file for each secret. Default: `./.belfry/secrets`. */
  readonly secretsFolder?: string | undefined
  /** The address at which people reach a server of this store. Links in messages to people begin with it. Default: `BELFRY_PUBLIC_URL`, else no links. */
  readonly publicUrl?: string | undefined
  /** How long a lease of this worker lasts unless the worker renews it, in ms. Default: 30000. */
  readonly leaseMs?: number | undefined
  /** How often the worker renews its leases, in ms. Default: a third of `leaseMs`. */
  readonly renewMs?: number | undefined
  /** How often the worker reports that it is alive, in ms. Default: 60000. */
  readonly beatMs?: number | undefined
  /** How often the worker polls when nothing wakes it, in ms. Default: 30000. */
  readonly pollMs?: number | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The options with all defaults filled in. */
export interface Opening extends Omit<z.output<typeof openInput>, 'store' | 'secretsFolder'> {
  readonly store: string
  /** The file of the store where the program has named none. */
  readonly found: string | null
  readonly secretsFolder: string
  /** The zone of a cron that names none. */
  readonly zone: string
  readonly defaultMaxConcurrent: number
  /** A stop that keeps a worker of this process from starting anything. */
  readonly halt: HaltOptions
}

const storeFileDefault = './.belfry/belfry.db'
const secretsFolderDefault = './.belfry/secrets'
const stopFileDefault = './.belfry/STOP'
const maxConcurrentDefault = 5

/** Reads the options and the environment. */
export function openingOf(options: unknown, environment: Environment): Opening {
  const value = givenOptions(options)
  const problems: Problem[] = []
  const opening = {
    ...value,
    store: value.store ?? `sqlite:${storeFileDefault}`,
    found: value.store === undefined ? resolve(storeFileDefault) : null,
    secretsFolder: resolve(value.secretsFolder ?? secretsFolderDefault),
    publicUrl: value.publicUrl ?? publicUrlOf(environment.BELFRY_PUBLIC_URL, problems),
    zone: zoneOf(environment.BELFRY_ZONE, problems),
    defaultMaxConcurrent: ceilingOf(environment.BELFRY_MAX_CONCURRENT, problems),
    halt: {
      disabled: disabledBy(environment.BELFRY_DISABLED, problems),
      stopFile: resolve(environment.BELFRY_STOP_FILE || stopFileOf(value.store)),
    },
  }
  refuse('The environment', problems)
  return opening
}

/** A bad store URL is refused when the store is opened; if there are other problems too, all are reported together. */
function givenOptions(options: unknown): z.output<typeof openInput> {
  const { value, problems } = read(openInput, options, 'the options of Belfry.open')
  const ofStore = value.store === undefined ? null : storeUrlProblem(value.store)
  if (problems.length > 0 && ofStore !== null) {
    const expected = 'sqlite:PATH, memory: or postgres://user:password@host:5432/database'
    refuse('Belfry.open', [{ field: 'store', problem: ofStore, expected }, ...problems])
  }
  refuse('Belfry.open', problems)
  networkGuard(value.network ?? {})
  return value as z.output<typeof openInput>
}

function disabledBy(given: string | undefined, problems: Problem[]): string | undefined {
  if (given === undefined || given === '' || given === '0') return undefined
  if (given !== '1') {
    const problem = `is ${JSON.stringify(given.slice(0, 60))}`
    problems.push({ field: 'BELFRY_DISABLED', problem, expected: '1, or nothing' })
  }
  return 'BELFRY_DISABLED=1'
}

/** Beside the store if the store is in a `.belfry` folder, else in the `.belfry` folder of the working directory. */
function stopFileOf(store = ''): string {
  const [, file] = /^sqlite:(.+)$/s.exec(store) ?? []
  return file !== undefined && basename(dirname(file)) === '.belfry' ? join(dirname(file), 'STOP') : stopFileDefault
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

function publicUrlOf(given: string | undefined, problems: Problem[]): string | undefined {
  if (given === undefined || given === '') return undefined
  if (isWebAddress(given)) return given
  const expected = 'an http or https address without a query, such as https://belfry.example.org'
  problems.push({ field: 'BELFRY_PUBLIC_URL', problem: 'is not such an address', expected })
  return undefined
}

function isWebAddress(given: string): boolean {
  if (!URL.canParse(given) || given.length > 2_000) return false
  const { protocol, search, hash, username, password } = new URL(given)
  return (
    /^https?:$/.test(protocol) && [search, hash, username, password].every((part) => part === '') && !/\s/.test(given)
  )
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
  return given === false || isRecord(given)
}
