import { exitOk } from '../../../operations/error-codes.ts'
import type { Run } from '../../../operations/run/view.ts'
import { loadShows } from '../../../parts-face.ts'
import type { Sheet } from '../sheet.ts'
import { showBackfill } from './backfill.ts'
import { showSources } from './config.ts'
import { showDiagnosis } from './doctor.ts'
import { showRunExplained } from './explain-run.ts'
import { showScheduleExplained } from './explain-schedule.ts'
import { showImported } from './imported.ts'
import { showNotices, showNotifyTested, showNotifyWritten } from './notices.ts'
import { showPolicyDiff, showPolicyVersions, showStats } from './queue-figures.ts'
import { showQueue, showQueueDeleted, showQueues, showQueueWritten, showWorkers } from './queues.ts'
import {
  showAttempts,
  showCancelled,
  showEnqueued,
  showOutput,
  showReprioritised,
  showReset,
  showRetried,
  showRun,
  showRuns,
} from './runs.ts'
import {
  showDraining,
  showLeaseEnded,
  showLeasing,
  showManyRenewed,
  showManyReset,
  showPlan,
  showReclaimed,
  showRenewed,
} from './sched.ts'
import { showScheduleWritten } from './schedule-written.ts'
import {
  showCleared,
  showDeletion,
  showHinted,
  showHints,
  showHistory,
  showPause,
  showResumption,
  showRunMade,
  showSchedule,
  showScheduleReset,
  showSchedules,
  showVersions,
} from './schedules.ts'
import { showRevoked, showTokenMade, showTokens } from './tokens.ts'
import { showUpcoming } from './upcoming.ts'

/** What an answer does not tell itself. */
export interface Written {
  readonly place: string
  readonly isRehearsal: boolean
}

/** How an answer is shown to people. */
export type Show = (answer: never, sheet: Sheet, written: Written) => string

const written: Show = (answer, sheet, { place, isRehearsal }) =>
  showScheduleWritten(answer, sheet, { place, rehearsed: isRehearsal })

/** How the answer of each command is shown to people. A test asks for all of them. */
export const kernelShows: Readonly<Record<string, Show>> = {
  'schedule create': written,
  'schedule put': written,
  'schedule update': written,
  'schedule revert': written,
  'schedule show': showSchedule,
  'schedule list': showSchedules,
  'schedule delete': showDeletion,
  'schedule pause': showPause,
  'schedule resume': showResumption,
  'schedule reset': showScheduleReset,
  'schedule run': showRunMade,
  'schedule backfill': showBackfill,
  'schedule next': showUpcoming,
  'schedule history': showHistory,
  'schedule hint': showHinted,
  'schedule clear-hints': showCleared,
  'schedule hints': showHints,
  'schedule versions': showVersions,
  'run enqueue': showEnqueued,
  'run show': showRun,
  'run list': showRuns,
  'run attempts': showAttempts,
  'run output': showOutput,
  'run wait': showRun,
  'run cancel': showCancelled,
  'run retry': showRetried,
  'run reprioritise': showReprioritised,
  'run reset': showReset,
  'queue set': showQueueWritten,
  'queue show': showQueue,
  'queue list': showQueues,
  'queue pause': showQueueWritten,
  'queue resume': showQueueWritten,
  'queue delete': showQueueDeleted,
  'queue stats': showStats,
  'queue drain': showDraining,
  'queue policy versions': showPolicyVersions,
  'queue policy diff': showPolicyDiff,
  'sched plan': showPlan,
  'sched lease': showLeasing,
  'sched renew': showRenewed,
  'sched renew-many': showManyRenewed,
  'sched complete': showLeaseEnded,
  'sched release': showLeaseEnded,
  'sched park': showLeaseEnded,
  'sched reclaim': showReclaimed,
  'sched reset': showManyReset,
  'worker list': showWorkers,
  'token create': showTokenMade,
  'token list': showTokens,
  'token revoke': showRevoked,
  'config list': showSources,
  'explain schedule': showScheduleExplained,
  'explain run': showRunExplained,
  doctor: showDiagnosis,
  'import cool-workflow': showImported,
  'import crontab': showImported,
  notify: showNotifyWritten,
  'notify test': showNotifyTested,
  notices: showNotices,
}

export async function render(command: string, answer: unknown, sheet: Sheet, told: Written): Promise<string> {
  const show = kernelShows[command] ?? (await loadShows())[command]
  return show === undefined ? JSON.stringify(answer, null, 2) : show(answer as never, sheet, told)
}

/** Commands whose answer says by `ok` whether a script should go on. */
const sayOk: ReadonlySet<string> = new Set(['doctor', 'import crontab', 'import cool-workflow'])

/** By its exit code a script learns how a run ended, whether all is well, and whether an import left something out. */
export function exitOfAnswer(command: string, answer: unknown): number {
  if (command === 'run wait') return (answer as Run).status === 'completed' ? exitOk : 1
  return !sayOk.has(command) || (answer as { readonly ok: boolean }).ok ? exitOk : 1
}
