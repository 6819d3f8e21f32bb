import { DurationError, formatDuration, parseDuration } from './duration.ts'
import {
  type CatchUpConfig,
  catchUpDefault,
  promptSpread,
  type SettledSpread,
  type SpreadConfig,
} from './timing/spread.ts'

/** The settings that can be changed while workers run. */
export interface Settings extends SpreadConfig, CatchUpConfig {
  /** Whether durable tasks may be made, edited and fired. */
  readonly durable: boolean
}

export type SettingName = keyof Settings

/** The settings that were set, and the number of their version. Version 0: nothing was set. */
export interface SettingsVersion {
  readonly version: number
  readonly values: Partial<Settings>
}

interface Setting<Value> {
  readonly says: string
  readonly default: Value
  readonly expected: string
  /** The value of a text; `undefined` where the text is invalid. */
  readonly read: (text: string) => Value | undefined
}

const hourMs = 3_600_000
const minuteMs = 60_000

export const settings: { readonly [Name in SettingName]: Setting<Settings[Name]> } = {
  recurringFraction: {
    says: 'How much of its period a recurring task may come late.',
    default: promptSpread.recurringFraction,
    ...number(0, 0.5, false),
  },
  recurringCapMs: {
    says: 'How late a recurring task may come at most.',
    default: promptSpread.recurringCapMs,
    ...ms(hourMs),
  },
  oneShotMaxMs: {
    says: 'How early a one-shot task may come at most.',
    default: promptSpread.oneShotMaxMs,
    ...ms(10 * minuteMs),
  },
  oneShotMinuteModulo: {
    says: 'Only one-shot tasks at a UTC minute that is a multiple of this number are moved.',
    default: promptSpread.oneShotMinuteModulo,
    ...number(1, 60, true),
  },
  catchUpMin: {
    says: 'Catching up is spread when a queue has at least this many missed occurrences.',
    default: catchUpDefault.catchUpMin,
    ...number(1, 1_000_000, true),
  },
  catchUpMs: {
    says: 'Over how long catching up is spread.',
    default: catchUpDefault.catchUpMs,
    ...ms(hourMs),
  },
  durable: {
    says: 'Whether durable tasks may be made, edited and fired.',
    default: true,
    expected: 'on or off',
    read: (text) => (text === 'on' || text === 'true' ? true : text === 'off' || text === 'false' ? false : undefined),
  },
}

export const settingNames = Object.keys(settings) as readonly SettingName[]

export const settingDefaults = Object.fromEntries(
  settingNames.map((name) => [name, settings[name].default]),
) as unknown as Settings

/** The settings in force: the value that was set, else the default. */
export function settingsInForce({ values }: SettingsVersion): Settings {
  return { ...settingDefaults, ...values }
}

export const noSettings: SettingsVersion = { version: 0, values: {} }

/** The spread of prompt tasks under these settings. */
export function settledSpread(given: SettingsVersion = noSettings): SettledSpread {
  const { recurringFraction, recurringCapMs, oneShotMaxMs, oneShotMinuteModulo } = settingsInForce(given)
  return { version: given.version, recurringFraction, recurringCapMs, oneShotMaxMs, oneShotMinuteModulo }
}

function number(min: number, max: number, isWhole: boolean) {
  const expected = `${isWhole ? 'an integer' : 'a number'} from ${min} to ${max}`
  const read = (text: string) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max && (!isWhole || Number.isInteger(value)) ? value : undefined
  }
  return { expected, read }
}

/** A plain number is in ms, as the name says; a text with a unit is read as a duration. */
function ms(max: number) {
  const whole = number(0, max, true)
  const read = (text: string) => {
    try {
      return whole.read(/^\d+$/.test(text) ? text : String(parseDuration(text)))
    } catch (error) {
      if (error instanceof DurationError) return undefined
      throw error
    }
  }
  return { expected: `ms, or a duration such as 30s, from 0 to ${formatDuration(max)}`, read }
}
