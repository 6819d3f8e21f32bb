import { callerKind } from '../core/caller.ts'
import { BelfryError } from '../core/error.ts'
import { forcedCalendar } from '../core/hold.ts'
import { calendarsIn } from '../core/target.ts'
import { findRun } from '../store/reads/find-run.ts'
import type { OperationContext } from './operation-context.ts'

/** Refuses an agent that takes away calendars which a person gave to a schedule or queue: it may start no more than before. */
export function refuseLoosening(
  { actor }: Pick<OperationContext, 'actor'>,
  subject: string,
  { before, after }: { readonly before: object | null | undefined; readonly after: object | null | undefined },
): void {
  const kept = new Set(calendarsIn(after))
  const gone = calendarsIn(before).filter((use) => !kept.has(use))
  if (gone.length === 0 || callerKind(actor) !== 'agent') return
  throw new BelfryError('not-allowed', `Only a person takes calendars from ${subject}: ${gone.join(', ')}.`, {
    hint: `Give its calendars too: ${JSON.stringify(calendarsIn(before))}. Or ask a person.`,
    details: { caller: 'agent', calendars: gone },
  })
}

/** Refuses an agent that repeats a run which a person forced past closed calendars. */
export async function refuseForced({ store }: Pick<OperationContext, 'store'>, id: string): Promise<void> {
  const run = await store.look(findRun, id)
  if (!calendarsIn(run?.options).includes(forcedCalendar)) return
  throw new BelfryError(
    'not-allowed',
    `A person forced run ${id} past closed calendars, and only a person repeats that.`,
    {
      hint: 'Run its schedule without force: it starts once its calendars are open.',
      details: { caller: 'agent', id },
    },
  )
}
