export interface JsonProblem {
  /** The path inside the value: `.items[2]`. Empty for the value itself. */
  readonly path: string
  /** The problem, as a clause after its name. */
  readonly problem: string
}

/** The correction of every problem. */
export const plainData = 'plain data that JSON can express'

/** No valid data are nested this deep; a value that contains itself always is. */
const levelsMax = 500
const pathLengthMax = 80

export interface JsonReading {
  /** Applies `toJSON` where it exists, so that a date becomes its text; by default it is refused. */
  readonly converts?: boolean
}

/** The first part of a value that JSON would drop, replace or refuse; `null` when there is none. Undefined properties count as absent. */
export function jsonProblem(value: unknown, { converts = false }: JsonReading = {}): JsonProblem | null {
  const found = looked(value, converts)
  if (found === null || found.path.length <= pathLengthMax) return found
  return { ...found, path: `${found.path.slice(0, pathLengthMax)}…` }
}

/** A getter or a `toJSON` may throw anything. */
function looked(value: unknown, converts: boolean): JsonProblem | null {
  try {
    return problemOf(value, { level: 0, converts })
  } catch (error) {
    return here(`cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

interface Spot {
  readonly level: number
  readonly converts: boolean
}

function problemOf(value: unknown, spot: Spot): JsonProblem | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null
    case 'number':
      return Number.isFinite(value) ? null : here(`is ${value}`)
    case 'object':
      return value === null ? null : insideOf(value, spot)
    case 'undefined':
      return here('is undefined')
    default:
      return here(`is a ${typeof value}`)
  }
}

function insideOf(value: object, spot: Spot): JsonProblem | null {
  if (spot.level > levelsMax) return here(`is nested over ${levelsMax} levels deep, or contains itself`)
  const inside = { ...spot, level: spot.level + 1 }
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return convertedOf(value, toJSON as () => unknown, inside)
  if (Array.isArray(value)) return amongItems(value, inside)
  if (!isPlain(value)) return here(`is ${classOf(value)}`)
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key]
    const found = inner === undefined ? null : problemOf(inner, inside)
    if (found !== null) return { path: nameOf(key) + found.path, problem: found.problem }
  }
  return null
}

/** The value would come back as something else: a date as text. */
function convertedOf(value: object, toJSON: () => unknown, spot: Spot): JsonProblem | null {
  if (value instanceof Date && Number.isNaN(value.getTime())) return here('is an invalid date')
  if (spot.converts) return problemOf(toJSON.call(value), spot)
  return here(value instanceof Date ? 'is a Date, which JSON can express only as text' : 'has a toJSON method')
}

function amongItems(items: readonly unknown[], spot: Spot): JsonProblem | null {
  for (let index = 0; index < items.length; index++) {
    const found = problemOf(items[index], spot)
    if (found !== null) return { path: `[${index}]${found.path}`, problem: found.problem }
  }
  return null
}

/** True for objects of another realm too, whose `Object.prototype` is not ours. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

function classOf(value: object): string {
  const made: unknown = value.constructor
  const name = typeof made === 'function' && made !== Object ? made.name : ''
  return name === '' ? 'an object with a prototype of its own' : `an instance of ${name}`
}

function nameOf(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function here(problem: string): JsonProblem {
  return { path: '', problem }
}
