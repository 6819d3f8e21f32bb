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

/** Prints an answer: as JSON only, or for people, with notes on stderr. */
export async function showAnswer(told: ShownAnswer, world: World): Promise<void> {
  const { operation, answer, options } = told
  const { stdout } = world
  if (options.json !== true) return showPeople(told, world)
  stdout.write(`${JSON.stringify(atDoors(operation.output, answer, speller(told, world)), null, 2)}\n`)
  if (operation.effect === 'read' || options.dryRun === true) return
  await besides(told, noteSurroundings(told, world, { saysPlace: true }), undefined)
}

/** The result of a write is printed even if the notes below it cannot be read: a server that is gone by then must not turn it into a failure, or the user would repeat the write. */
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

/** Spells commands in an answer so that they go to the same store or server. */
function speller({ options }: ShownAnswer, { own }: World): (text: string) => string {
  return (text) => spelledFor(text, own, options as Naming)
}

/** An empty page of a filtered list says nothing about the rest. */
function isPastEnd({ operation, input, answer }: ShownAnswer): boolean {
  const isEmpty = operation.nextPage !== undefined && Array.isArray(answer) && answer.length === 0
  return isEmpty && Object.keys(input).some((field) => field !== 'limit' && !operation.takes.includes(field))
}

/** The command for the next page, if there may be one. */
function more({ operation, input, answer }: ShownAnswer, { paint, spelled }: Sheet): string[] {
  const next = operation.nextPage?.(answer, input) ?? null
  return next === null ? [] : [paint.dim(`more: ${spelled(commandLine(operation, { ...input, ...next }))}`)]
}

/** The time zone in which the noun shows this answer; else that of the reader. */
async function zoneOf({ operation, input, answer, session }: ShownAnswer): Promise<string | null> {
  return (await nounEntries[operation.noun]?.zone?.(session.call, { input, answer })) ?? null
}

/** Whether the answer already names a missing worker, or a note before the wait did. */
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

/** Advice to start a worker is useless while the store is not trusted. */
async function noteTrust({ operation, session, options }: ShownAnswer, { stderr, env, own }: World): Promise<void> {
  // Below all other answers the note about a missing worker says it.
  if (!namesWorkers(operation) || (await session.needsTrust?.()) !== true) return
  const { yellow } = paintOf(isColoured(stderr, env))
  stderr.write(`${yellow('note:')} ${trustFirst(own, options as Naming)}\n`)
}

/** Output of a run is printed unchanged, except to a terminal, which would interpret control characters. */
export function asPutOut(text: string, { stdout }: Pick<World, 'stdout'>): string {
  return stdout.isTTY === true ? printable(text.replaceAll('\r\n', '\n')) : text
}
