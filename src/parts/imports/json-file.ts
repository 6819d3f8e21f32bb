import { readJson } from '../../core/json/json-text.ts'
import { isShown, type Problem } from '../../operations/input/refuse-input.ts'
import { type Left, shown } from './draft.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface JsonFile {
  /** The input field with its text. */
  readonly field: string
  /** The name of the file. */
  readonly name: string
  readonly problems: Problem[]
}

/**
 * Reads a file of cool-workflow, or reports why it is not one. cool-workflow takes a malformed file for an empty one and overwrites it;
 * here the caller gets an error.
 */
export function fieldsIn(text: string, { field, name, problems }: JsonFile): Fields | null {
  const refused = (problem: string, expected: string) => {
    problems.push({ field, problem, expected })
    return null
  }
  // Some editors write a byte order mark, which is not part of the text.
  const read = readJson(text.replace(/^\uFEFF/, ''))
  if ('problem' in read) return refused(`is ${read.problem}`, read.expected ?? `the text of ${name}`)
  const { value } = read
  if (!isFields(value)) return refused(`is JSON that ${isShown(value)}`, `an object, as ${name} has one`)
  const { schemaVersion = 1 } = value
  if (schemaVersion !== 1)
    return refused(`has a schemaVersion that ${isShown(schemaVersion)}`, 'version 1, which is known')
  return value
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A list in a file, or a problem. */
export function listIn(file: Fields, list: string, { field, problems }: JsonFile): readonly unknown[] | null {
  const value = file[list]
  if (Array.isArray(value)) return value
  const problem = value === undefined ? `has no ${list}` : `has ${list} that ${isShown(value).replace(/^is/, 'are')}`
  problems.push({ field, problem, expected: `a list of ${list}` })
  return null
}

/** Fields that cool-workflow itself does not know. */
export function strangers(value: Fields, known: ReadonlySet<string>, where: string, why: string): Left[] {
  return Object.keys(value)
    .filter((name) => !known.has(name))
    .map((name) => ({ where, what: shown(name), why }))
}
