import type { SettingName, Settings, SettingsVersion } from '../../../core/setting.ts'
import type { Actor } from '../../../store/audit/actor.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { lockManaged } from '../../../store/managed.ts'
import { settingsNow } from '../../../store/settings/settings-row.ts'
import { all, both, clockNow, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

const insertVersion = both(
  'setting insert',
  'insert into belfry.setting (ns, version, at, actor, content) values ($1, $2, $3, $4, $5)',
)
const findVersions = both(
  'setting find versions',
  'select version, at, actor, content from belfry.setting where ns = $1 order by version desc',
)

/** A new value, or `undefined` for the default. */
export interface SettingChange<Name extends SettingName = SettingName> {
  readonly name: Name
  readonly value: Settings[Name] | undefined
  readonly actor: Actor
}

export interface ChangedSettings extends SettingsVersion {
  readonly before: Settings[SettingName] | undefined
  readonly changed: boolean
}

/** Writes the next version of the settings, unless the value is what it was. Of two callers the second waits for the first. */
export function* changeSetting(context: StoreContext, { name, value, actor }: SettingChange): Step<ChangedSettings> {
  yield* lockManaged(context)
  const { version, values } = yield* settingsNow(context)
  const before = values[name]
  if (before === value) return { version, values, before, changed: false }
  const { [name]: _, ...rest } = values
  const next = { version: version + 1, values: value === undefined ? rest : { ...rest, [name]: value } }
  const now = yield* clockNow()
  yield* one(insertVersion, context.ns, next.version, now, actor.name, JSON.stringify(next))
  const verb = value === undefined ? 'setting.reset' : 'setting.set'
  const detail = { version: next.version, from: before ?? null, to: value ?? null }
  yield* writeAudit(context, { actor, verb, subject: `setting ${name}`, detail }, now)
  return { ...next, before, changed: true }
}

export interface SettingOrigin {
  readonly version: number
  readonly at: number
  readonly by: string
}

/** Who set each of the settings that have no default value now. */
export function* settingOrigins({ ns }: StoreContext): Step<ReadonlyMap<string, SettingOrigin>> {
  const rows = (yield* all(findVersions, ns)).map((row) => ({
    origin: { version: row.version as number, at: row.at as number, by: row.actor as string },
    values: (JSON.parse(row.content as string) as SettingsVersion).values as Readonly<Record<string, unknown>>,
  }))
  const origins = new Map<string, SettingOrigin>()
  for (const name of Object.keys(rows[0]?.values ?? {})) {
    const since = rows.findIndex(({ values }) => values[name] !== rows[0]?.values[name])
    origins.set(name, rows[(since === -1 ? rows.length : since) - 1]?.origin as SettingOrigin)
  }
  return origins
}
