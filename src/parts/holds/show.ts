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

export function showStopped(stopped: Stopped, { command, when }: Sheet): string {
  const { hold, namespaces } = stopped
  const what = hold.on === 'namespace' ? 'everything' : plainText(hold.on)
  const where = namespaces.length > 1 ? ` in ${namespaces.length} namespaces` : ''
  const until = hold.until === null ? '' : ` until ${when(hold.until)}`
  const go = hold.on === 'namespace' ? ['go'] : ['go', '--on', hold.on]
  const again = `${hold.on === 'namespace' ? 'start everything again' : 'let it go on'}: ${command(...go, ...(namespaces.length > 1 ? ['--everywhere'] : []))}`
  const doubt = stopped.doubt === null ? '' : `\n  ${plainText(stopped.doubt)}`
  return `stopped ${what}${where} (${hold.id})${until}; ${atWorkText(stopped)}${doubt}\n  ${again}`
}

function atWorkText({ atWork, cancelling, releasing }: Stopped): string {
  if (atWork === 0) return 'nothing is at work'
  const runs = atWork === 1 ? '1 run is at work' : `${atWork} runs are at work`
  if (cancelling > 0) return `${runs}, and ${cancelling} of them asked to end`
  return releasing > 0 ? `${runs}, and ${releasing} of them asked to be given back` : `${runs}, and may finish`
}

export function showGoing(lifted: readonly Hold[]): string {
  const what = lifted.every(({ on }) => on === 'namespace') ? 'everything' : plainText(lifted[0]?.on ?? '')
  return `${what} goes on: lifted ${lifted.map(({ id }) => id).join(', ')}`
}
