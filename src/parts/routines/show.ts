import { plainText, shortText } from '../../operations/schedule/plain-text.ts'
import { type Facts, indented, type Listing, rehearsed, type Sheet } from '../../operations/show.ts'
import { targetInWords } from '../../operations/target/target-in-words.ts'
import type { EventTaken, Routine, RoutineEvent } from './operations/routine-answer.ts'

const textWidth = 60
const payloadWidth = 200

export function showRoutineMade(made: Routine & { readonly created: boolean }, sheet: Sheet): string {
  const name = plainText(made.name)
  if (!made.created) return `${name} exists already with the same fields`
  const head = sheet.isRehearsal ? `would create routine ${name} ${rehearsed}` : `created routine ${name}`
  return [head, indented(inWords(made, sheet)), ...hookLines(made, sheet)].join('\n')
}

function hookLines({ name, hook, signing }: Routine, sheet: Sheet): string[] {
  if (hook === null || signing === undefined) {
    return [indented(`fire it: ${sheet.command('routine', 'fire', name)}`)]
  }
  const secret = `BELFRY_SECRET_${signing.secret.secret}, or the file .belfry/secrets/${signing.secret.secret}`
  return [indented(`webhooks: POST ${hook}, signed in the ${signing.style} style with the secret of ${secret}`)]
}

/** "push: fires schedule report, where ref is …" */
function inWords({ type, match, schedule, run }: Routine, { kinds }: Sheet): string {
  const types = type === undefined ? 'every event' : type.map(plainText).join(', ')
  const does =
    schedule === undefined
      ? `enqueues a run: ${targetInWords(run?.target, kinds)}`
      : `fires schedule ${plainText(schedule)}`
  const where = match === undefined ? '' : ` where ${shortText(JSON.stringify(match), payloadWidth)}`
  return `${types}${where}: ${does}`
}

export const routinesShown: Listing<readonly Routine[], Routine> = {
  none: ({ command }) =>
    `No routines yet. Create one: ${command('routine', 'create', 'NAME', '--schedule', 'SCHEDULE')}`,
  columns: [
    ['NAME', 'name', 'name'],
    ['STANDS', standing],
    ['MADE', 'createdAt', 'relative'],
    ['WEBHOOKS', 'hook', 'text'],
    ['DOES', (routine, sheet) => shortText(inWords(routine, sheet), textWidth)],
  ],
}

function standing({ enabled }: Routine, { paint }: Sheet): string {
  return enabled ? paint.green('enabled') : paint.yellow('disabled')
}

export const routineShown: Facts<Routine> = {
  head(routine, sheet) {
    const { name, description } = routine
    const about = description === undefined ? [] : [indented(plainText(description))]
    const head = `${sheet.paint.bold(plainText(name))}  ${standing(routine, sheet)}`
    return [head, ...about, indented(inWords(routine, sheet))].join('\n')
  },
  facts: [
    ['disabled', ({ disabled }, { when }) => disabled && `since ${when(disabled.at)}: ${plainText(disabled.reason)}`],
    ['webhooks', 'hook', 'text'],
    ['signed', ({ signing }) => (signing === undefined ? null : `${signing.style}, secret ${signing.secret.secret}`)],
    ['queue', ({ run }) => (run?.queue === undefined ? null : plainText(run.queue))],
    [
      'payload',
      ({ run }) => (run?.payload === undefined ? null : shortText(JSON.stringify(run.payload), payloadWidth)),
    ],
    ['made', ({ createdAt, createdBy }, { when }) => `${when(createdAt)} by ${plainText(createdBy)}`],
    ['id', 'id', 'text'],
  ],
  below: ({ name }, { paint, command }) => indented(paint.dim(`events: ${command('routine', 'events', name)}`)),
}

export function showRoutineSwitched({ disabled, name }: Routine, { command }: Sheet): string {
  if (disabled === null) return `${plainText(name)} takes events`
  const again = command('routine', 'enable', name)
  return `${plainText(name)} takes no events: ${plainText(disabled.reason)}\n  enable it: ${again}`
}

const outcomes: Readonly<Record<EventTaken['outcome'], string>> = {
  fired: 'made',
  'not-matched': 'the routine does not take such events',
  disabled: 'the routine is disabled',
  overlap: 'no run was created',
  'schedule-gone': 'no run was created',
  duplicate: 'no further run was created',
}

export function showEventTaken({ outcome, run, reason, kept }: EventTaken, { isRehearsal, command }: Sheet): string {
  const head = isRehearsal ? `would be ${outcome} ${rehearsed}` : outcome
  const why = reason === null ? '' : ` (${plainText(reason)})`
  if (outcome !== 'fired') return `${head}: ${outcomes[outcome]}${why}${run === null ? '' : `; see ${run}`}`
  if (isRehearsal) return head
  const waits = {
    held: ', which waits: its schedule is paused or held',
    overlap: ', which waits: another run has not ended',
  }
  const follow = command('run', 'output', '-f', run ?? '')
  return `${head}: ${outcomes.fired} ${run}${kept === undefined ? '' : waits[kept]}\n  follow it: ${follow}`
}

export const eventsShown: Listing<readonly RoutineEvent[], RoutineEvent> = {
  none: 'No events yet.',
  columns: [
    ['EVENT', 'id', 'name'],
    ['CAME', 'at', 'relative'],
    ['TYPE', 'type', 'text'],
    ['OUTCOME', ({ outcome }, { paint }) => (outcome === 'fired' ? paint.green : paint.yellow)(outcome)],
    ['RUN', 'run', 'text'],
    [
      'DELIVERY',
      ({ door, deliveryId, repeats }) => {
        const again = repeats === 0 ? '' : `, and ${repeats === 1 ? 'once' : `${repeats} times`} more`
        return `${plainText(door)} ${shortText(deliveryId, textWidth)}${again}`
      },
    ],
    ['WHY', 'reason', 'short'],
  ],
}
