import { atDoors } from '../../operations/at-doors.ts'
import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import type { Typed } from './given.ts'
import { noteAbsentWorker } from './no-worker.ts'
import type { Place } from './place.ts'
import { isFollowable } from './program.ts'
import { isColoured, paintOf, printable } from './sheet.ts'
import { render } from './show/all.ts'
import { type Naming, spelled, withoutPassword } from './spelling.ts'
import type { Session, World } from './world.ts'

interface Told {
  readonly operation: AnyOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: unknown
  readonly session: Session
  readonly place: Place
  readonly options: Typed['options']
}

/** Tells an answer: as JSON and nothing else, or for people, with what they should know besides on stderr. */
export async function tell(told: Told, world: World): Promise<void> {
  const { operation, answer, options } = told
  const { stdout } = world
  if (options.json !== true) return tellPeople(told, world)
  stdout.write(`${JSON.stringify(atDoors(operation.output, answer), null, 2)}\n`)
  if (operation.effect !== 'read' && options.dryRun !== true) await noteSurroundings(told, world, { saysPlace: true })
}

async function tellPeople(told: Told, world: World): Promise<void> {
  const { operation, answer, session, options } = told
  const { stdout, env } = world
  const { context } = session
  const isRehearsal = options.dryRun === true
  const place = placeSaid(told)
  const now = await context.store.read.now()
  const spell = (command: string) => spelled(command, env, options as Naming)
  const sheet = { now, zone: await zoneOf(told), paint: paintOf(isColoured(stdout, env)), spell }
  const text = render(commandOf(operation).join(' '), answer, sheet, { place, isRehearsal })
  stdout.write(isFollowable(operation) ? asPutOut(text, world) : `${printable(text)}\n`)
  if (isRehearsal || tellsItself.has(operation.verb)) return
  await noteSurroundings(told, world, { saysPlace: operation.effect !== 'read' && !text.includes(place) })
}

/** The zone of the schedule that an answer is about; times of anything else are told by the reader's own clock. */
async function zoneOf({ operation, input, answer, session }: Told): Promise<string> {
  const { store, zone } = session.context
  const { schedule } = (answer ?? {}) as { readonly schedule?: unknown }
  const name = operation.noun === 'schedule' ? input.name : operation.noun === 'run' ? schedule : undefined
  if (typeof name !== 'string') return zone
  const timing = (await store.read.schedule(name))?.spec.timing
  return timing?.cron === undefined ? zone : timing.zone
}

/** What these answer is how things stand, or was said before they waited; a note below would only say it again. */
const tellsItself: ReadonlySet<string> = new Set(['doctor', 'explain', 'wait'])

/** A rehearsal where there is no store yet is held on one that vanishes; what it is about is the one that would be. */
function placeSaid({ session, place, options }: Pick<Told, 'session' | 'place' | 'options'>): string {
  const { store } = session.context
  const isVanishing = options.dryRun === true && store.place === 'memory:'
  return isVanishing ? withoutPassword(place.store).replace(/^sqlite:/, '') : store.place
}

export async function noteSurroundings(
  told: Pick<Told, 'session' | 'place' | 'options'>,
  { stderr, env }: World,
  { saysPlace }: { readonly saysPlace: boolean },
): Promise<void> {
  const paint = paintOf(isColoured(stderr, env))
  await noteAbsentWorker(told.session.context, {
    stderr,
    env,
    paint,
    naming: told.options as Naming,
    named: saysPlace ? placeSaid(told) : null,
  })
}

/** What a run put out is handed on as it is, except to a terminal, which would do what it says. */
export function asPutOut(text: string, { stdout }: Pick<World, 'stdout'>): string {
  return stdout.isTTY === true ? printable(text.replaceAll('\r\n', '\n')) : text
}
