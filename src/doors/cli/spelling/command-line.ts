import type { z } from 'zod'
import { unwrapped } from '../../../operations/fields/field-kind.ts'
import { type AnyOperation, commandOf } from '../../../operations/operation.ts'
import { noteOf } from '../../../operations/schema/schema-note.ts'
import { shellWord } from '../../../operations/shell-words.ts'
import { argumentsOf, type Field, fieldsOf, flagOf } from '../parse/command-fields.ts'
import { isLine } from '../parse/read-value.ts'
import { targetText } from '../parse/target-flags.ts'

type Paths = Readonly<Record<string, string>>

/** A call as a command line. An input that is the text of a file is shown by a path: a given one, or an example. */
export function commandLine(
  operation: AnyOperation,
  given: Readonly<Record<string, unknown>>,
  paths: Paths = {},
): string {
  const { takes } = operation
  const input = withPaths(operation, given, paths)
  const words = takes.flatMap((name) => (input[name] === undefined ? [] : [shellWord(String(input[name]))]))
  const fields = Object.entries(input).filter(
    ([name, value]) => !takes.includes(name) && name !== 'target' && value !== undefined,
  )
  const removed = fields.filter(([, value]) => value === null).map(([name]) => flagOf(name).slice(2))
  const offered = fieldsOf(operation)
  const known = new Map(offered.filter(({ part }) => part === undefined).map((field) => [field.name, field]))
  const flags = fields.flatMap(([name, value]) => {
    if (value === null) return []
    const parts = partsText(offered, name, value)
    if (parts !== null) return parts
    const { kind, flag = flagOf(name) } = known.get(name) ?? {}
    if (kind === 'command') return [`${flag} ${shellWord(lineOf(value) ?? JSON.stringify(value))}`]
    return kind === 'json' ? [`${flag} ${shellWord(JSON.stringify(value))}`] : flagText(flag, value)
  })
  const unset = removed.length === 0 ? [] : [`--unset ${removed.join(',')}`]
  return ['belfry', ...commandOf(operation), ...words, ...flags, ...unset, ...targetText(input.target)].join(' ')
}

/** The line for sh, if the target has no other fields. */
function lineOf(target: unknown): string | undefined {
  const { command, ...others } = target as Readonly<Record<string, unknown>>
  const isAlone = typeof command === 'string' && Object.keys(others).length === 0
  return isAlone && isLine(command) ? command : undefined
}

/** An object as the flags of its fields, where each field has one. */
function partsText(offered: readonly Field[], name: string, value: unknown): string[] | null {
  const parts = offered.filter((field) => field.name === name && field.part !== undefined)
  if (parts.length === 0 || typeof value !== 'object') return null
  const given = Object.entries(value ?? {}).map(([part, said]) => ({
    flag: parts.find((field) => field.part === part)?.flag,
    said,
  }))
  if (given.some(({ flag }) => flag === undefined)) return null
  return given.flatMap(({ flag = '', said }) => flagText(flag, said))
}

function withPaths(operation: AnyOperation, given: Readonly<Record<string, unknown>>, paths: Paths) {
  const input: Record<string, unknown> = { ...given }
  for (const { name, kind } of [...argumentsOf(operation), ...fieldsOf(operation)]) {
    if (kind === 'file' && input[name] !== undefined) input[name] = paths[name] ?? examplePath(operation, name)
  }
  return input
}

function examplePath({ input }: AnyOperation, name: string): string {
  return noteOf(unwrapped((input.shape as Record<string, z.ZodType>)[name] as z.ZodType).inner).file ?? name
}

function flagText(flag: string, value: unknown): string[] {
  if (value === true) return [flag]
  if (value === false) return [flag.replace('--', '--no-')]
  if (Array.isArray(value) && value.some((text) => /[\s,]/.test(String(text)))) {
    return value.map((text) => `${flag} ${shellWord(String(text))}`)
  }
  if (Array.isArray(value)) return [`${flag} ${value.map(String).join(',')}`]
  return [`${flag} ${shellWord(String(value))}`]
}
