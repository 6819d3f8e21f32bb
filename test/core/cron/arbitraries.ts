import fc from 'fast-check'

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const

/** One field over a span of numbers, in every form a list item can take. */
export function numbersField(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max })
  const range = fc.tuple(value, value).map((ends) => `${Math.min(...ends)}-${Math.max(...ends)}`)
  const step = fc.integer({ min: 1, max: max - min + 1 })
  const item = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([span, nth]) => `${span}/${nth}`),
    step.map((nth) => `*/${nth}`),
  )
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  return fc.oneof(fc.constant('*'), list)
}

const dayOfMonth = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: numbersField(1, 31) },
  fc.constantFrom('L', 'LW', 'L-3', '1,L'),
  fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`),
)

const dayOfWeek = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: numbersField(0, 6) },
  fc.constantFrom('MON-FRI', '7', '5-7', 'FRI-SUN'),
  fc.constantFrom(...WEEKDAYS).map((day) => `${day}L`),
  fc.tuple(fc.constantFrom(...WEEKDAYS), fc.integer({ min: 1, max: 5 })).map(([day, nth]) => `${day}#${nth}`),
)

const month = fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, numbersField(1, 12))

/** Valid expressions of five or six fields. */
export const expressions: fc.Arbitrary<string> = fc
  .tuple(
    fc.option(numbersField(0, 59), { freq: 3 }),
    numbersField(0, 59),
    numbersField(0, 23),
    dayOfMonth,
    month,
    dayOfWeek,
  )
  .map((fields) => fields.filter((field) => field !== null).join(' '))

export const zoneNames: fc.Arbitrary<string> = fc.constantFrom(
  'UTC',
  'America/New_York',
  'Europe/Paris',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Pacific/Apia',
  'Pacific/Auckland',
  'America/Havana',
  'Antarctica/Troll',
)

/** From 2005 to 2045, in milliseconds, so that questions fall between seconds as well. */
export const instants: fc.Arbitrary<number> = fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2045, 0, 1) })
