import { columns, indented } from '../../doors/cli/columns.ts'
import { commandFor, type Sheet } from '../../doors/cli/sheet.ts'
import type { Show } from '../../doors/cli/show/all.ts'
import { facts } from '../../doors/cli/show/facts.ts'
import { relative, when } from '../../doors/cli/when.ts'
import { plainText, shortText } from '../../operations/schedule/plain-text.ts'
import { targetInWords } from '../../operations/schedule/target-in-words.ts'
import type { EventTaken, Routine, RoutineEvent } from './operations/view.ts'

interface Manner {
  readonly isRehearsal: boolean
}

const textWidth = 60
const payloadWidth = 200
const rehearsed = '(a rehearsal: nothing was written)'

function showRoutineMade(made: Routine & { readonly created: boolean }, sheet: Sheet, { isRehearsal }: Manner): string {
  const name = plainText(made.name)
  if (!made.created) return `${name} is there already, and says the same`
  const head = isRehearsal ? `would make routine ${name} ${rehearsed}` : `made routine ${name}`
  return [head, indented(inWords(made)), ...hookLines(made, sheet)].join('\n')
}

function hookLines({ name, hook, signing }: Routine, sheet: Sheet): string[] {
  if (hook === null || signing === undefined) {
    return [indented(`fire it: ${commandFor(sheet, 'routine', 'fire', name)}`)]
  }
  const secret = `BELFRY_SECRET_${signing.secret.secret}, or the file .belfry/secrets/${signing.secret.secret}`
  return [indented(`webhooks: POST ${hook}, signed in the ${signing.style} style with the secret of ${secret}`)]
}

/** "push: fires schedule report, where ref is …" */
function inWords({ type, match, schedule, run }: Routine): string {
  const kinds = type === undefined ? 'every event' : type.map(plainText).join(', ')
  const does =
    schedule === undefined ? `enqueues a run: ${targetInWords(run?.target)}` : `fires schedule ${plainText(schedule)}`
  const where = match === undefined ? '' : ` where ${shortText(JSON.stringify(match), payloadWidth)}`
  return `${kinds}${where}: ${does}`
}

function showRoutines(routines: readonly Routine[], sheet: Sheet): string {
  const { now, paint } = sheet
  if (routines.length === 0) {
    const first = ['routine', 'create', 'NAME', '--schedule', 'SCHEDULE']
    return `No routines yet. Make one: ${commandFor(sheet, ...first)}`
  }
  const rows = routines.map((routine) => [
    paint.bold(plainText(routine.name)),
    standing(routine, sheet),
    relative(routine.createdAt, now),
    routine.hook ?? '',
    shortText(inWords(routine), textWidth),
  ])
  return columns(['NAME', 'STANDS', 'MADE', 'WEBHOOKS', 'DOES'], rows)
}

function standing({ enabled }: Routine, { paint }: Sheet): string {
  return enabled ? paint.green('enabled') : paint.yellow('disabled')
}

function showRoutine(routine: Routine, sheet: Sheet): string {
  const { now, zone, paint } = sheet
  const reader = { now, zone }
  const { disabled, signing, run } = routine
  const rows: [string, string | null][] = [
    ['disabled', disabled === null ? null : `since ${when(disabled.at, reader)}: ${plainText(disabled.reason)}`],
    ['webhooks', routine.hook],
    ['signed', signing === undefined ? null : `${signing.style}, secret ${signing.secret.secret}`],
    ['queue', run?.queue === undefined ? null : plainText(run.queue)],
    ['payload', run?.payload === undefined ? null : shortText(JSON.stringify(run.payload), payloadWidth)],
    ['made', `${when(routine.createdAt, reader)} by ${plainText(routine.createdBy)}`],
    ['id', routine.id],
  ]
  const about = routine.description === undefined ? [] : [indented(plainText(routine.description))]
  const head = `${paint.bold(plainText(routine.name))}  ${standing(routine, sheet)}`
  const more = paint.dim(`what came in: ${commandFor(sheet, 'routine', 'events', routine.name)}`)
  return [head, ...about, indented(inWords(routine)), indented(facts(rows, paint)), indented(more)].join('\n')
}

function showRoutineSwitched(routine: Routine, sheet: Sheet): string {
  const { disabled, name } = routine
  if (disabled === null) return `${plainText(name)} takes events`
  const again = commandFor(sheet, 'routine', 'enable', name)
  return `${plainText(name)} takes no events: ${plainText(disabled.reason)}\n  let it take them again: ${again}`
}

function showRoutineDeleted({ name }: { readonly name: string }, _: Sheet, { isRehearsal }: Manner): string {
  return isRehearsal ? `would delete routine ${plainText(name)} ${rehearsed}` : `deleted routine ${plainText(name)}`
}

const outcomes: Readonly<Record<EventTaken['outcome'], string>> = {
  fired: 'made',
  'not-matched': 'it is none that the routine takes',
  disabled: 'the routine is disabled',
  overlap: 'nothing was made',
  'schedule-gone': 'nothing was made',
  duplicate: 'nothing more was made',
}

function showEventTaken(taken: EventTaken, sheet: Sheet, { isRehearsal }: Manner): string {
  const { outcome, run, reason, kept } = taken
  const head = isRehearsal ? `would be ${outcome} ${rehearsed}` : outcome
  const why = reason === null ? '' : ` (${plainText(reason)})`
  if (outcome !== 'fired') return `${head}: ${outcomes[outcome]}${why}${run === null ? '' : `; see ${run}`}`
  if (isRehearsal) return head
  const waits = { held: ', which waits: its schedule is paused', overlap: ', which waits: another run has not ended' }
  const follow = commandFor(sheet, 'run', 'output', '-f', run ?? '')
  return `${head}: ${outcomes.fired} ${run}${kept === undefined ? '' : waits[kept]}\n  follow it: ${follow}`
}

function showEvents(events: readonly RoutineEvent[], { now, paint }: Sheet): string {
  if (events.length === 0) return 'Nothing has come in yet.'
  const rows = events.map(({ id, at, type, outcome, reason, run, repeats, deliveryId, door }) => [
    paint.bold(id),
    relative(at, now),
    plainText(type ?? ''),
    (outcome === 'fired' ? paint.green : paint.yellow)(outcome),
    run ?? '',
    `${plainText(door)} ${shortText(deliveryId, textWidth)}${repeats === 0 ? '' : `, and ${repeats === 1 ? 'once' : `${repeats} times`} more`}`,
    shortText(reason ?? '', textWidth),
  ])
  return columns(['EVENT', 'CAME', 'TYPE', 'OUTCOME', 'RUN', 'DELIVERY', 'WHY'], rows)
}

export const shows: Readonly<Record<string, Show>> = {
  'routine create': showRoutineMade,
  'routine show': showRoutine,
  'routine list': showRoutines,
  'routine fire': showEventTaken,
  'routine events': showEvents,
  'routine delete': showRoutineDeleted,
  'routine enable': showRoutineSwitched,
  'routine disable': showRoutineSwitched,
}
