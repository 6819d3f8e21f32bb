import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import {
  type SettingName,
  type Settings,
  type SettingsVersion,
  settingDefaults,
  settingNames,
  settings,
  settingsInForce,
} from '../../../core/setting.ts'
import { nearest } from '../../../operations/input/nearest-name.ts'
import { type Problem, quoted, refuse } from '../../../operations/input/refuse-input.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import type { Sheet } from '../../../operations/show.ts'
import { settingsNow } from '../../../store/settings/settings-row.ts'
import { changeSetting, type SettingOrigin, settingOrigins } from './write-settings.ts'

type Value = Settings[SettingName]

const valueSchema = z.union([z.boolean(), z.number()])
const originSchema = z.strictObject({
  version: count('The version of the settings that brought the value.'),
  at: instantOutput('When it was set.'),
  by: text('Who set it.'),
})
const settingSchema = noted(
  z
    .strictObject({
      name: z.enum(settingNames as [SettingName, ...SettingName[]]).describe('The name of the setting.'),
      value: valueSchema.describe('Its value; durations in ms.'),
      default: valueSchema.describe('Its default.'),
      says: text('What it tunes.'),
      origin: originSchema.nullable().describe('Who set it; null where it has its default.').exactOptional(),
    })
    .describe('A setting that is tuned while everything runs.'),
  { id: 'Setting' },
)
/** A setting as doors show it. */
export type Setting = AnswerOf<typeof settingSchema>

function settingOf(name: SettingName, inForce: SettingsVersion, origin?: SettingOrigin | null): Setting {
  const { [name]: value } = settingsInForce(inForce)
  const { says } = settings[name]
  return { name, value, default: settingDefaults[name], says, ...(origin !== undefined && { origin }) }
}

function shownValue(value: Value): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value)
}

const list = operation({
  noun: 'setting',
  verb: 'list',
  method: 'GET',
  says: 'List the settings that are tuned while everything runs.',
  request: 'a list of settings',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    origin: z.boolean().describe('Whether to show who set each of them, and when. Default: false.').optional(),
  }),
  takes: [],
  output: z.array(settingSchema),
  errors: ['invalid'],
  doors: everyDoor,
  show: {
    none: 'No settings.',
    columns: [
      ['SETTING', 'name', 'name'],
      ['VALUE', ({ value, default: standard }, { paint }) => paintedValue(value, standard, paint)],
      ['DEFAULT', ({ default: standard }) => shownValue(standard)],
      ['SET', ({ origin }, sheet) => (origin == null ? '' : originText(origin, sheet))],
      ['TUNES', 'says', 'text'],
    ],
  },
  examples: [{}, { origin: true }],
  async run({ store }, { origin: withOrigin = false }) {
    const inForce = await store.look(settingsNow)
    const origins = withOrigin ? await store.look(settingOrigins) : null
    return settingNames.map((name) =>
      settingOf(name, inForce, origins === null ? undefined : (origins.get(name) ?? null)),
    )
  },
})

function paintedValue(value: Value, standard: Value, paint: Sheet['paint']): string {
  return value === standard ? shownValue(value) : paint.yellow(shownValue(value))
}

function originText({ version, at, by }: SettingOrigin, { when }: Sheet): string {
  return `by ${by}, ${when(at)}, version ${version}`
}

const people: Doors = { ...everyDoor, mcp: 'Only a person tunes settings; a model reads them, and asks.' }
const changing = {
  noun: 'setting',
  effect: 'write',
  scope: 'admin',
  doors: people,
  persons: true,
  idempotent: true,
} as const
const named = z.string().describe(`The name of the setting: ${settingNames.join(', ')}.`)

const changedSchema = z.strictObject({
  name: z.enum(settingNames as [SettingName, ...SettingName[]]).describe('The name of the setting.'),
  value: valueSchema.describe('Its value now.'),
  was: valueSchema.describe('Its value before.'),
  version: count('The version of the settings now.'),
  changed: flag('Whether this call changed it.'),
})
type ChangedSetting = AnswerOf<typeof changedSchema>

function showChanged({ name, value, was, version, changed }: ChangedSetting): string {
  return changed
    ? `${name} is ${shownValue(value)} (was ${shownValue(was)}); version ${version} of the settings`
    : `${name} is ${shownValue(value)} already`
}

const set = operation({
  ...changing,
  verb: 'set',
  method: 'PUT',
  says: 'Set a setting; what is planned from now on follows it, in every process.',
  request: 'a setting',
  input: z.strictObject({
    name: named,
    value: z.string().describe('The value as text: 0.2, 15m, on.'),
  }),
  takes: ['name', 'value'],
  output: changedSchema,
  show: showChanged,
  errors: ['invalid', 'not-found'],
  examples: [
    { name: 'recurringFraction', value: '0.2' },
    { name: 'durable', value: 'off' },
  ],
  async judge({ store, actor }, { value: given, problems: found }) {
    const name = given.name === undefined ? undefined : knownName(given.name)
    const problems: Problem[] = [...found]
    const read = name === undefined || given.value === undefined ? undefined : settings[name].read(given.value)
    if (name !== undefined && given.value !== undefined && read === undefined) {
      problems.push({ field: 'value', problem: `is ${quoted(given.value)}`, expected: settings[name].expected })
    }
    refuse('The setting', problems)
    const written = await store.do(changeSetting, { name: name as SettingName, value: read, actor })
    return changedOf(name as SettingName, written)
  },
})

const reset = operation({
  ...changing,
  verb: 'reset',
  says: 'Give a setting its default again.',
  request: 'a reset of a setting',
  input: z.strictObject({ name: named }),
  takes: ['name'],
  output: changedSchema,
  show: showChanged,
  errors: ['invalid', 'not-found'],
  examples: [{ name: 'recurringFraction' }],
  async run({ store, actor }, { name: given }) {
    const name = knownName(given)
    return changedOf(name, await store.do(changeSetting, { name, value: undefined, actor }))
  },
})

function changedOf(
  name: SettingName,
  written: SettingsVersion & { before: Value | undefined; changed: boolean },
): ChangedSetting {
  const { version, before = settingDefaults[name], changed } = written
  return { name, value: settingsInForce(written)[name], was: before, version, changed }
}

function knownName(given: string): SettingName {
  const name = settingNames.find((one) => one === given)
  if (name !== undefined) return name
  const meant = nearest(given, settingNames)
  throw new BelfryError('not-found', `There is no setting ${quoted(given)}.`, {
    hint: meant === undefined ? 'List them with `belfry setting list`.' : `Did you mean ${meant}?`,
    details: { setting: given },
  })
}

export const settingOperations = { list, set, reset }
