import { formatDuration } from '../../../core/duration.ts'
import { clockNow } from '../../../store/statement.ts'
import type { WorkerView } from '../../../store/views.ts'
import { isoText } from '../../input/instant.ts'
import type { Finding } from '../diagnosis.ts'
import { type HealthCheck, note, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

/** Two clocks that are set by NTP may differ by this much. */
const toleratedMs = 1_000
const wrongMs = 60_000

export const clock: HealthCheck = {
  check: 'clock',
  says: 'Whether this machine’s clock agrees with the store’s, which Belfry uses, and whether the store’s clock was set back. Noted: 1 s of difference or more. Wrong: 1 min or more, or a worker’s last heartbeat is later than now.',
  unblocks: 'Let a time service set the clock, for example `timedatectl set-ntp true`.',
  async look(inspection) {
    const apartMs = await differenceMs(inspection)
    const findings = [...ofMachine(apartMs), ...ofStore(inspection)]
    if (findings.length > 0) return { says: 'A clock is wrong.', findings }
    const is = isoText(inspection.now)
    return {
      says: `It is ${is} by the store’s clock, and this machine’s agrees to within ${formatDuration(toleratedMs)}.`,
    }
  },
}

/** How far this machine is ahead of the store; 0 where the round trip could explain it. */
async function differenceMs({ context: { clock, store } }: Inspection): Promise<number> {
  const before = clock.now()
  const now = await store.look(clockNow)
  const after = clock.now()
  if (now < before) return before - now
  return now > after ? after - now : 0
}

function ofMachine(apartMs: number): Finding[] {
  if (Math.abs(apartMs) <= toleratedMs) return []
  const by = formatDuration(Math.abs(apartMs))
  const says = `This machine’s clock is ${by} ${apartMs > 0 ? 'ahead of' : 'behind'} the store’s, which Belfry uses.`
  const find = Math.abs(apartMs) > wrongMs ? wrong : note
  return [find('this machine', says, 'Let a time service set this machine’s clock: timedatectl set-ntp true.')]
}

function ofStore({ workers, now }: Inspection): Finding[] {
  const [last] = workers.toSorted((a, b) => lastHeard(b) - lastHeard(a))
  if (last === undefined || lastHeard(last) <= now + toleratedMs) return []
  const by = formatDuration(lastHeard(last) - now)
  const says = `It is ${isoText(now)}, but the last heartbeat of worker ${last.id} is ${by} later: the clock was set back.`
  const next = 'Correct the store’s clock; workers that noticed fire nothing for at most a minute.'
  return [wrong('the store’s clock', says, next)]
}

function lastHeard({ beatAt, startedAt, stoppedAt }: WorkerView): number {
  return Math.max(beatAt, startedAt, stoppedAt ?? 0)
}
