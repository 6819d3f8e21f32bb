import { about } from '../../operations/explain/words.ts'
import { counted, type HealthCheck, wrong } from '../../operations/store/health-check.ts'
import { configFaults, listConfigs } from './read-configs.ts'

export const config: HealthCheck = {
  check: 'config',
  // The last applied content stays in force.
  stopsNothing: true,
  says: 'Whether config files can be applied. Wrong: one cannot; what was applied before stays in force.',
  unblocks: 'Correct the file as the finding says; a worker that watches it applies it, else run `belfry apply`.',
  async look({ store, now }) {
    const [sources, faults] = [await store.look(listConfigs), await store.look(configFaults)]
    const applied =
      sources.length === 0 ? 'No config file was applied.' : `${counted(sources.length, 'config source')} applied.`
    if (faults.length === 0) return { says: applied }
    const findings = faults.map(({ file, says, at }) =>
      wrong(
        file,
        `It has failed to apply for ${about(Math.max(0, now - at))}, and nothing was changed: ${says}`,
        'Once that is corrected: belfry apply',
      ),
    )
    return { says: `${counted(faults.length, 'file')} cannot be applied.`, findings }
  },
}
