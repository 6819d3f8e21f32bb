import { DurationError, parseDuration } from '../../../core/duration.ts'
import { BelfryError } from '../../../core/error.ts'
import { kinds } from '../../../kinds.ts'
import { exitOk } from '../../../operations/error-codes.ts'
import { isLoopback, listenAddressOf, listenDefault } from '../../../operations/input/listen-address.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import { partUps } from '../../../parts-face.ts'
import { sections } from '../../../table.ts'
import type { CommandContext, Flags, WorkerDefaults, WorkerPart } from '../part.ts'
import { refuseServer, type ServerFlags } from '../session/named-server.ts'
import { locateStore, refuseForeignLocation, refuseStraySchema } from '../session/store-location.ts'
import { withProgress } from '../show/progress.ts'
import { isColoured, paintOf } from '../show/terminal-sheet.ts'
import { spelled } from '../spelling/spelling.ts'
import { endingBySignals } from '../stop-signals.ts'
import type { ServeRequest, Serving, WorkerOpening, WorkerSession, World } from '../world.ts'
import { Tally } from './tally.ts'
import { type Left, WorkerReport } from './worker-report.ts'

interface UpFlags extends ServerFlags {
  readonly json?: true
  readonly once?: true
  readonly for?: string
  readonly keepGoing?: true
  readonly slots?: string
  readonly queues?: string
  readonly grace?: string
  readonly name?: string
  readonly allowPrivate?: true
  readonly allowHosts?: string
  readonly refuseLoopback?: true
  readonly quiet?: true
  readonly listen?: string
  readonly behindProxy?: true
  readonly hosts?: string
}

/** The flags, with the settings of parts where a flag is not given. */
type StartFlags = UpFlags & WorkerDefaults

/** Runs a worker and prints its events until a signal ends it or its output is closed. */
export async function up(given: Flags, { world, reader, isJudged }: CommandContext): Promise<number> {
  const flags = given as unknown as UpFlags
  refuseServer('up', 'A worker needs the store itself.', flags, world)
  const place = locateStore(flags.store, world)
  refuseForeignLocation(place, world)
  refuseStraySchema(place, flags.schema)
  const besides: WorkerPart[] = []
  for (const { load } of partUps) besides.push(await (await load())(given, { place, world, kinds, sections }))
  const said: WorkerDefaults = Object.assign({}, ...besides.map((beside) => beside.said ?? {}))
  const { start, graceMs, forMs, listen } = startOf({ ...said, ...flags }, world)
  if (isJudged) return exitOk
  const isOnce = flags.once === true
  const { json: isJson = false, quiet: isQuiet = false } = flags
  const teller = new WorkerReport(world, { isJson, isQuiet, naming: flags })
  const tally = new Tally()
  const worker = await withProgress(
    world,
    'opening the store',
    world.work({
      ...openingOf(flags, place.store),
      isFound: place.from === 'found',
      secretsFolder: `${place.belfryFolder}/secrets`,
      hear: (heard) => {
        // Only some names are kept: a worker may run for months and must not remember every parked
        // run.
        if (isOnce) tally.hear(heard)
        teller.hear(heard)
      },
    }),
  )
  // Signals are handled from here on: while the store opens, a signal should end the process at
  // once.
  const ending = endingBySignals()
  void reader.gone.then(() => ending.ask())
  try {
    if (worker.note !== null) noteStore(worker.note, flags, world)
    teller.opening({ place: worker.place, isNew: !place.exists, isOnce, ...start })
    for (const beside of besides) await beside.begin?.(worker)
    // Bind the port first: a worker that fails to get its port must not have fired or leased anything.
    const isServing = !isOnce && listen !== null
    const door = isServing ? await serving(worker, { ...listen, tokenFolder: place.belfryFolder }) : null
    await worker.start(start)
    if (door !== null) teller.serving(door)
    ending.onSecond(() => void worker.stop({ graceMs: 0 }))
    if (isOnce) await Promise.race([worker.drain({ forMs }), ending.first])
    else await ending.first
    const isDone = isOnce && !ending.isAsked
    await worker.stop(flags.grace === undefined ? {} : { graceMs })
    teller.closing(isDone ? { ...(await left(worker)), counts: tally.counts } : null)
    return isOnce && flags.keepGoing !== true && tally.hasFailures ? exitFailed : exitOk
  } finally {
    ending.forget()
    await worker.close()
  }
}

function noteStore(note: string, flags: UpFlags, { stderr, env, own }: World): void {
  stderr.write(`${paintOf(isColoured(stderr, env)).yellow('note:')} ${spelled(note, own, flags)}\n`)
}

/** Opens the HTTP door, unless it is turned off. If the default address is in use, most often another worker on this machine has it, and this worker runs without one; a named address is required. */
async function serving(
  worker: WorkerSession,
  { isNamed, ...request }: ServeRequest & { readonly isNamed: boolean },
): Promise<Serving | 'taken'> {
  try {
    return await worker.serve(request)
  } catch (error) {
    const isTaken = error instanceof BelfryError && error.details?.isTaken === true
    if (isTaken && !isNamed) return 'taken'
    throw error
  }
}

/** The listen address; `null` for none. Checked before anything is opened. */
function listenOf(
  { listen: flag, listenFromConfig: said, behindProxy, hosts }: StartFlags,
  { env }: World,
  problems: Problem[],
) {
  const fromEnv = env.BELFRY_LISTEN === '' ? undefined : env.BELFRY_LISTEN
  const named = flag ?? fromEnv ?? said
  const field = flag !== undefined ? '--listen' : fromEnv !== undefined ? 'BELFRY_LISTEN' : 'server.listen'
  const address = named === undefined ? listenDefault : listenAddressOf(named, field, problems)
  if (address === null) return null
  if (!isLoopback(address) && behindProxy !== true) {
    const problem = `is ${JSON.stringify(named)}, which other machines can reach, but Belfry does not speak TLS`
    problems.push({ field, problem, expected: '127.0.0.1:4747, or --behind-proxy where a proxy with TLS is in front' })
  }
  return {
    listen: named ?? `${listenDefault.host}:${listenDefault.port}`,
    isNamed: named !== undefined,
    ...(behindProxy === true && { behindProxy }),
    ...(hosts !== undefined && { hosts: listOf(hosts) }),
  }
}

async function left(worker: WorkerSession): Promise<Omit<Left, 'counts'>> {
  const [nextAt, isWaiting] = await Promise.all([worker.nextInstant(), worker.isWaiting()])
  return { nextAt, isWaiting }
}

const graceDefault = '25s'
/** The exit code when runs failed or were parked although the command itself worked. */
const exitFailed = 1

function startOf({ slots, queues, grace = graceDefault, name, allowHosts, hosts, ...rest }: StartFlags, world: World) {
  const problems: Problem[] = []
  for (const [flag, list] of Object.entries({ '--queues': queues, '--allow-hosts': allowHosts, '--hosts': hosts })) {
    if (list === undefined || !listOf(list).includes('')) continue
    const problem = `is ${JSON.stringify(list.slice(0, 60))}, in which a name is empty`
    problems.push({ field: flag, problem, expected: 'names separated by commas, such as a,b' })
  }
  if (name !== undefined && (name === '' || name.length > nameLengthMax)) {
    const problem = name === '' ? 'is empty' : `has ${name.length} characters`
    problems.push({ field: '--name', problem, expected: `a text of 1 to ${nameLengthMax} characters` })
  }
  const count = slots === undefined ? undefined : slotsOf(slots, problems)
  const graceMs = durationIn('--grace', grace, problems)
  const forMs = onceOf(rest, problems)
  const listen = listenOf({ ...rest, ...(hosts !== undefined && { hosts }) }, world, problems)
  refuse('The worker', problems)
  return {
    graceMs,
    forMs,
    listen,
    start: { ...(count !== undefined && { slots: count }), ...(queues !== undefined && { queues: listOf(queues) }) },
  }
}

const slotsMax = 1_000_000
const nameLengthMax = 200

function slotsOf(text: string, problems: Problem[]): number {
  const slots = /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 0
  if (slots < 1 || slots > slotsMax) {
    const problem = `is ${JSON.stringify(text.slice(0, 60))}`
    problems.push({ field: '--slots', problem, expected: `an integer from 1 to ${slotsMax}` })
  }
  return slots
}

/** How far ahead `--once` waits for runs that come due. Its own flags are refused without it. */
function onceOf({ once, for: ahead, keepGoing }: StartFlags, problems: Problem[]): number {
  const stray = { '--for': ahead, '--keep-going': keepGoing }
  for (const [field, value] of Object.entries(stray)) {
    if (value === undefined || once === true) continue
    problems.push({ field, problem: 'needs --once', expected: '--once beside it' })
  }
  return ahead === undefined ? 0 : durationIn('--for', ahead, problems)
}

function durationIn(field: string, text: string, problems: Problem[]): number {
  try {
    return parseDuration(text)
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    problems.push({ field, problem: `is ${JSON.stringify(text.slice(0, 60))}`, expected: error.suggestion })
    return 0
  }
}

function listOf(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}

function openingOf(
  { schema, namespace, name, allowPrivate, allowHosts, refuseLoopback }: UpFlags,
  store: string,
): Omit<WorkerOpening, 'isFound' | 'secretsFolder' | 'hear'> {
  return {
    store,
    ...(schema !== undefined && { schema }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    network: {
      allowLoopback: refuseLoopback !== true,
      ...(allowPrivate === true && { allowPrivate }),
      ...(allowHosts !== undefined && { allowHosts: listOf(allowHosts) }),
    },
  }
}
