import type { DatabaseCondition } from '../health-views.ts'
import { dialects, one, type Step } from '../statement.ts'
import { readSettings, riskySettings, type Settings } from './boot.ts'

const findSettings = dialects('postgres condition', { sqlite: null, postgres: readSettings })

/** The settings can change while the store is open, so they are checked again after boot. */
export function* condition(): Step<DatabaseCondition> {
  const settings = (yield* one<Settings>(findSettings)) as Settings
  return {
    kind: 'PostgreSQL',
    version: settings.version_text,
    file: null,
    isEphemeral: false,
    risks: riskySettings(settings).map((setting) => ({
      setting,
      is: settings[setting],
      mend: `On the server: alter system set ${setting} = on; select pg_reload_conf(). A setting of the database or the user overrides it.`,
    })),
  }
}
