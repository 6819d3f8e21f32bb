import { plainText } from '../../operations/schedule/plain-text.ts'
import type { Listing, Sheet } from '../../operations/show.ts'
import type { Hold, Stopped } from './hold-answer.ts'

export const holdsShown: Listing<readonly Hold[], Hold> = {
  none: 'No holds: nothing keeps work from starting.',
  columns: [
    ['HOLD', 'id', 'name'],
    ['ON', 'on', 'text'],
    ['REASON', ({ reason, inForce }, { paint }) => (inForce ? paint.yellow(reason) : paint.dim(`${reason}, not yet`))],
    ['FROM', 'from', 'when'],
    ['UNTIL', ({ until }, { when }) => (until === null ? 'it is lifted' : when(until))],
    ['BY', 'by', 'text'],
    ['NOTE', 'note', 'short'],
  ],
}

export function showPut({ id, on, from, until, inForce }: Hold, { when, command }: Sheet): string {
  const begins = inForce ? '' : ` from ${when(from)}`
  const ends = until === null ? '' : ` until ${when(until)}`
  const held = on === 'namespace' ? 'everything' : plainText(on)
  return `${id} holds ${held}${begins}${ends}\n  lift it: ${command('hold', 'lift', id)}`
}

export function showLifted({ id, on }: Hold): string {
  return `lifted ${id} on ${plainText(on)}`
}

export function showStopped({ hold, atWork, cancelling }: Stopped, { command }: Sheet): string {
  const runs = atWork === 1 ? '1 run is at work' : `${atWork} runs are at work`
  const finish = cancelling > 0 ? `${runs}, and ${cancelling} of them asked to end` : `${runs}, and may finish`
  const again = `start everything again: ${command('go')}`
  return `stopped everything (${hold.id}); ${atWork === 0 ? 'nothing is at work' : finish}\n  ${again}`
}

export function showGoing(lifted: readonly Hold[]): string {
  return `everything goes on: lifted ${lifted.map(({ id }) => id).join(', ')}`
}
