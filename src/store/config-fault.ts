import { fileLengthMax } from './apply-config.ts'
import { checkText, keepableText } from './check.ts'
import type { StoreContext } from './context.ts'
import { both, clockNow, run, type Step } from './statement.ts'

const saveFault = both(
  'config save fault',
  `insert into belfry.config_fault (ns, file, says, at, seen_at) values ($1, $2, $3, $4, $4)
    on conflict (ns, file) do update set says = excluded.says, seen_at = excluded.seen_at,
      at = case when config_fault.says = excluded.says then config_fault.at else excluded.at end`,
)
const forgetFault = both('config forget fault', 'delete from belfry.config_fault where ns = $1 and file = $2')

const saysLengthMax = 4_000

/**
 * Notes what is wrong with a file, for whoever looks from elsewhere; it is told since when. Whoever notes it notes it again
 * and again: what nobody has seen for a while is the fault of a machine that is gone.
 */
export function* noteConfigFault({ ns }: StoreContext, file: string, says: string | null): Step<void> {
  checkText(file, 'file', fileLengthMax)
  if (says === null) yield* run(forgetFault, ns, file)
  else yield* run(saveFault, ns, file, keepableText(says.slice(0, saysLengthMax)), yield* clockNow())
}
