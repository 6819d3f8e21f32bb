import { canExecute, type TargetNeed } from '../../core/queue/plan-leases.ts'
import { needOf, type Target } from '../../core/target.ts'
import { clause } from '../../operations/explain/words.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import type { Finding } from '../../operations/store/diagnosis.ts'
import { type HealthCheck, wrong } from '../../operations/store/health-check.ts'
import type { Inspection } from '../../operations/store/inspection.ts'
import { targetInWords } from '../../operations/target/target-in-words.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { listRuns } from '../../store/reads/list-runs.ts'
import { noticesQueue } from './notice.ts'
import { receiversIn, receiverTargets } from './notify-setting.ts'
import { type NotifySetting, notifySettings } from './read-notices.ts'

export const receivers: HealthCheck = {
  check: 'notices',
  says: 'Whether notifications can be sent. Wrong when the receivers of a queue or the namespace cannot be read: nothing is sent then. Wrong too when workers are alive and none of them serves the queue `notices` and can send the notifications, and when the last notification to a receiver did not arrive: no further notification says so.',
  unblocks:
    'Unreadable: set it again with `belfry notify` or `belfry queue set`. No worker to send it: `belfry up --queues notices`, or `belfry up` for all queues. Not arrived: `belfry explain run`, then `belfry run retry`.',
  async look(inspection) {
    const settings = await inspection.store.look(notifySettings)
    const { schedules } = await inspection.sweep()
    const wishes = [...settings.map(({ notify }) => notify), ...schedules.map(({ spec }) => spec)].map(receiversIn)
    const targets = wishes.flatMap((notify) => receiverTargets(notify))
    const findings = [
      ...settings.flatMap(unreadable),
      ...unsendable(inspection, targets),
      ...(await undelivered(inspection, targets)),
    ]
    if (findings.length > 0) return { says: 'Not all notifications can be sent.', findings }
    return {
      says: targets.length > 0 ? 'Notifications can be sent.' : 'No notifications are configured.',
    }
  },
}

function unreadable({ queue, notify }: NotifySetting): Finding[] {
  if (notify !== null) return []
  const example = ['--on-failure', '{"http":{"url":"https://example.org/hook"}}']
  const command = queue === null ? ['notify', ...example] : ['queue', 'set', queue, ...example]
  const subject = queue ?? 'namespace'
  const of = queue === null ? 'the namespace says' : `queue ${queue} says`
  return [
    wrong(subject, `What ${of} about receivers cannot be read, so no notification is sent.`, belfryCommand(...command)),
  ]
}

/** If no worker is alive at all, another check reports it. */
function unsendable(inspection: Inspection, targets: readonly Target[]): Finding[] {
  if (inspection.live.length === 0) return []
  const needs = new Map<string, TargetNeed>()
  for (const target of targets) {
    const answer = needOf(target)
    // Messages for sessions go through a queue of their own, and wait there.
    const isTaken = inspection.context.kinds.some(
      ({ name, queue }) => queue !== undefined && target[name] !== undefined,
    )
    if ('need' in answer && answer.need !== null && !isTaken) needs.set(answer.need.kind, answer.need)
  }
  const beyond = [...needs.values()].filter((need) => !canExecute(need, inspection.canIn(noticesQueue)))
  return beyond.map((need) => {
    const says = `A receiver needs the target kind ${need.kind}, and no live worker that serves queue ${noticesQueue} has it.`
    return wrong(need.kind, says, belfryCommand('up', '--queues', noticesQueue))
  })
}

const lookedAtMax = 100

/** A notice that did not arrive sends no further notice, so this check reports it until one to the same receiver arrives. */
async function undelivered({ store, context }: Inspection, targets: readonly Target[]): Promise<Finding[]> {
  if (targets.length === 0 || (await store.look(findQueue, noticesQueue)) === null) return []
  const { runs } = await store.look(listRuns, { queue: noticesQueue, limit: lookedAtMax })
  const wanted = new Set(targets.map((target) => JSON.stringify(target)))
  const seen = new Set<string>()
  return runs.flatMap(({ id, source, target, status, parked, end }) => {
    const name = JSON.stringify(target)
    const isOver = status === 'completed' || status === 'failed' || status === 'parked'
    if (source !== 'notice' || target === null || !wanted.has(name) || !isOver || seen.has(name)) return []
    seen.add(name)
    if (status === 'completed') return []
    const why = clause(end?.reason ?? parked?.reason ?? 'no reason was given')
    const says = `The last notice (${targetInWords(target, context.kinds)}) did not arrive: ${why}.`
    return [wrong(id, says, belfryCommand('explain', 'run', id))]
  })
}
