import { about } from '../../operations/explain/words.ts'
import { counted, type HealthCheck, wrong } from '../../operations/store/health-check.ts'
import { configFaults, listConfigs } from './read-configs.ts'

export const config: HealthCheck = {
  check: 'config',
  // What the file said before stays at work.
  stopsNothing: true,
  says: 'Whether the files that look after queues and schedules can be applied. Wrong when one cannot: what was applied before stays as it is.',
  unblocks: 'Mend what it names in the file; a worker that watches it applies it by itself, else `belfry apply`.',
  async look({ store, now }) {
    const [sources, faults] = [await store.look(listConfigs), await store.look(configFaults)]
    const applied =
      sources.length === 0 ? 'No file looks after anything.' : `${counted(sources.length, 'source')} applied.`
    if (faults.length === 0) return { says: applied }
    const findings = faults.map(({ file, says, at }) =>
      wrong(
        file,
        `It cannot be applied for ${about(Math.max(0, now - at))}, and nothing was changed: ${says}`,
        'Once that is seen to: belfry apply',
      ),
    )
    return { says: `${counted(faults.length, 'file')} cannot be applied.`, findings }
  },
}
