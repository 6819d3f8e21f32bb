import { noSettings, type SettingsVersion } from '../../core/setting.ts'
import { both, one, type Step, type Value } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { Column } from '../table-codec.ts'

/** The newest settings of a namespace as their text, or null: one probe of an index. */
const newest = (ns: string) =>
  `(select v.content from belfry.setting v where v.ns = ${ns} order by v.version desc limit 1)`
const findNewest = both('settings find', `select ${newest('$1')} as settings`)

/**
 * A column with the settings in force, for the rows of schedules: every step that plans or fires one sees what was set before the step
 * began, in every process. `schedule` is the table or its alias.
 */
export function settingsColumn(schedule: string): string {
  return `${newest(`${schedule}.ns`)} as settings`
}

/** That column as it is read; absent where nothing was set. */
export const newestSettings: Column<SettingsVersion | undefined> = {
  type: 'text',
  read: settingsIn,
  write: (settings) => (settings === undefined ? null : JSON.stringify(settings)),
}

function settingsIn(content: Value | undefined): SettingsVersion | undefined {
  return typeof content === 'string' ? (JSON.parse(content) as SettingsVersion) : undefined
}

/** The settings of the namespace as they were last set. */
export function* settingsNow({ ns }: Pick<StoreContext, 'ns'>): Step<SettingsVersion> {
  return settingsIn((yield* one(findNewest, ns))?.settings) ?? noSettings
}
