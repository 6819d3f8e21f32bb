import type { AnyOperation } from '../../../operations/operation.ts'
import { atDoors } from '../../../operations/schema/answer-encoding.ts'
import type { Sheet } from '../../../operations/show.ts'
import { nounEntries } from '../../../table.ts'
import type { Typed } from '../parse/command-input.ts'
import { commandLine } from '../spelling/command-line.ts'
import { type Naming, spelled as spelledFor } from '../spelling/spelling.ts'
import type { Session, World } from '../world.ts'
import { noteAbsentWorker, trustFirst } from './no-worker.ts'
import { render } from './render.ts'
import { isColoured, paintOf, printable, TerminalSheet } from './terminal-sheet.ts'

interface ShownAnswer {
  readonly operation: AnyOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: unknown
  readonly session: Session
  readonly options: Typed['options']
}

/** Tells an answer: as JSON and nothing else, or for people, with what they should know besides on stderr. */
export async function showAnswer(told: ShownAnswer, world: World): Promise<void> {
  const { operation, answer, options } = told
  const { stdout } = world
  if (options.json !== true) return showPeople(told, world)
  stdout.write(`${JSON.stringify(atDoors(operation.output, answer, speller(told, world)), null, 2)}\n`)
  if (operation.effect === 'read' || options.dryRun === true) return
  await besides(told, noteSurroundings(told, world, { saysPlace: true }), undefined)
}

/**
 * What has been done is told whatever cannot be had besides: a server that is gone by then would make a failure of it, and
 * whoever hears of a failure does it again.
 */
async function besides<Answer>({ operation }: ShownAnswer, asked: Promise<Answer>, otherwise: Answer): Promise<Answer> {
  try {
    return await asked
  } catch (error) {
    if (operation.effect === 'read') throw error
    return otherwise
  }
}

async function showPeople(told: ShownAnswer, world: World): Promise<void> {
  const { operation, answer, session, options } = told
  const { stdout, env, clock } = world
  const { place } = session
  const isRehearsal = options.dryRun === true
  const isSilent = isRehearsal || namesWorkers(operation)
  const standing = isSilent ? session.now().then((now) => ({ now, hasWorker: true })) : session.standing()
  const { now, hasWorker } = await besides(told, standing, { now: clock.now(), hasWorker: true })
  const zone = (await besides(told, zoneOf(told), null)) ?? session.zone
  const paint = paintOf(isColoured(stdout, env))
  const sheet = new TerminalSheet({ now, zone, paint, place, isRehearsal, spell: speller(told, world) })
  const text = isPastEnd(told) ? 'None.' : [await render(operation, answer, sheet), ...more(told, sheet)].join('\n')
  stdout.write(operation.follow !== undefined ? asPutOut(text, world) : `${printable(text)}\n`)
  if (!isRehearsal && text.includes(sheet.command('up'))) await besides(told, noteTrust(told, world), undefined)
  if (isSilent) return
  const saysPlace = operation.effect !== 'read' && !text.includes(place)
  await besides(told, noteSurroundings(told, world, { saysPlace, hasWorker }), undefined)
}

/** Spells commands in an answer as they must be typed to go where this one went. */
function speller({ options }: ShownAnswer, { own }: World): (text: string) => string {
  return (text) => spelledFor(text, own, options as Naming)
}

/** A list of which only a part was asked for says nothing of the rest where that part is empty. */
function isPastEnd({ operation, input, answer }: ShownAnswer): boolean {
  const isEmpty = operation.nextPage !== undefined && Array.isArray(answer) && answer.length === 0
  return isEmpty && Object.keys(input).some((field) => field !== 'limit' && !operation.takes.includes(field))
}

/** The command that asks for the next page, where there may be one. */
function more({ operation, input, answer }: ShownAnswer, { paint, spelled }: Sheet): string[] {
  const next = operation.nextPage?.(answer, input) ?? null
  return next === null ? [] : [paint.dim(`more: ${spelled(commandLine(operation, { ...input, ...next }))}`)]
}

/** The zone that the noun gives its answers; other times are shown by the reader's own clock. */
async function zoneOf({ operation, input, answer, session }: ShownAnswer): Promise<string | null> {
  return (await nounEntries[operation.noun]?.zone?.(session.call, { input, answer })) ?? null
}

/** Whether a missing worker is named by the answer, or was before the wait; a note below would only say it again. */
function namesWorkers({ namesWorkers: inAnswer, waits }: AnyOperation): boolean {
  return inAnswer === true || waits === true
}

export async function noteSurroundings(
  { session, options }: Pick<ShownAnswer, 'session' | 'options'>,
  { stderr, env, own }: World,
  how: { readonly saysPlace: boolean; readonly hasWorker?: boolean },
): Promise<void> {
  const paint = paintOf(isColoured(stderr, env))
  await noteAbsentWorker(session, { stderr, own, paint, naming: options as Naming, ...how })
}

/** An answer that says to start a worker is of no use where the store is not trusted yet. */
async function noteTrust({ operation, session, options }: ShownAnswer, { stderr, env, own }: World): Promise<void> {
  // The note about an absent worker says it below all other answers.
  if (!namesWorkers(operation) || (await session.needsTrust?.()) !== true) return
  const { yellow } = paintOf(isColoured(stderr, env))
  stderr.write(`${yellow('note:')} ${trustFirst(own, options as Naming)}\n`)
}

/** What a run put out is handed on as it is, except to a terminal, which would do what it says. */
export function asPutOut(text: string, { stdout }: Pick<World, 'stdout'>): string {
  return stdout.isTTY === true ? printable(text.replaceAll('\r\n', '\n')) : text
}
