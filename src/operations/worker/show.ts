import { plainText } from '../schedule/plain-text.ts'
import type { Listing, Sheet } from '../show.ts'
import type { Worker } from './noun.ts'

export const workersShown: Listing<readonly Worker[], Worker> = {
  none: ({ command }) => `No worker has run yet. Start one: ${command('up')}`,
  columns: [
    ['ID', 'id', 'name'],
    ['NAME', 'name', 'text'],
    ['HOST', 'host', 'text'],
    ['STANDS', lifeOf],
    ['STARTED', 'startedAt', 'when'],
    ['SLOTS', ({ slots }) => (slots === null ? 'no limit' : String(slots))],
    [
      'CAN',
      ({ can: { kinds, handlers = [] } }) =>
        [...kinds, ...handlers.map((handler) => `handler ${handler}`)].map(plainText).join(', '),
    ],
  ],
  below: (workers) =>
    workers
      .filter(({ isDead }) => isDead)
      .map(lostOf)
      .join('\n') || null,
}

function lifeOf(
  { isLive, isDead, beatAt, stoppedAt, halted }: Worker,
  { now, paint, relative, howLong }: Sheet,
): string {
  if (isLive && halted !== null) return paint.yellow(`starts nothing: ${plainText(halted)}`)
  if (isLive) return paint.green('alive')
  if (isDead) return paint.red(`dead, last heartbeat ${relative(beatAt)}`)
  if (stoppedAt !== null) return paint.dim(`stopped ${relative(stoppedAt)}`)
  return paint.red(`no heartbeat for ${howLong(Math.max(0, now - beatAt))}`)
}

/** Says what happened to the runs of a worker that died. */
function lostOf({ id, lost, unreclaimed }: Worker): string {
  const held =
    unreclaimed === 1 ? '1 run until a worker reclaims it' : `${unreclaimed} runs until a worker reclaims them`
  const still = unreclaimed === 0 ? '' : ` It still holds ${held}.`
  if (lost === null) return unreclaimed === 0 ? `${id} held no run when it died.` : `${id} died.${still}`
  const shown = lost.runs.map((run) => `${run.id} as ${run.status} (${run.reason})`).join(', ')
  const some = lost.count > lost.runs.length ? `, the last ${lost.runs.length} of them` : ''
  return `${id}: ${lost.count} ${lost.count === 1 ? 'run was' : 'runs were'} reclaimed${some}: ${shown}.${still}`
}
