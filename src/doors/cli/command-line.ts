import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import { shellWord } from '../../operations/shell-words.ts'
import { fieldsOf, flagOf } from './fields.ts'

/** A call as somebody would type it. */
export function commandLine(operation: AnyOperation, input: Readonly<Record<string, unknown>>): string {
  const { takes } = operation
  const words = takes.flatMap((name) => (input[name] === undefined ? [] : [shellWord(String(input[name]))]))
  const fields = Object.entries(input).filter(
    ([name, value]) => !takes.includes(name) && name !== 'target' && value !== undefined,
  )
  const removed = fields.filter(([, value]) => value === null).map(([name]) => flagOf(name).slice(2))
  const ofJson = new Set(fieldsOf(operation).flatMap(({ name, kind }) => (kind === 'json' ? [name] : [])))
  const flags = fields.flatMap(([name, value]) => {
    if (value === null) return []
    return ofJson.has(name) ? [`${flagOf(name)} ${shellWord(JSON.stringify(value))}`] : flagText(flagOf(name), value)
  })
  const unset = removed.length === 0 ? [] : [`--unset ${removed.join(',')}`]
  return ['belfry', ...commandOf(operation), ...words, ...flags, ...unset, ...targetText(input.target)].join(' ')
}

/** Fields as flags, without a command before them. */
export function flagsOf(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => flagText(flagOf(name), value))
}

function flagText(flag: string, value: unknown): string[] {
  if (value === true) return [flag]
  if (value === false) return [flag.replace('--', '--no-')]
  if (Array.isArray(value)) return [`${flag} ${value.map(String).join(',')}`]
  return [`${flag} ${shellWord(String(value))}`]
}

function targetText(target: unknown): string[] {
  if (typeof target !== 'object' || target === null) return []
  const { http, command, handler } = target as { http?: { url: string }; command?: string | string[]; handler?: string }
  if (http !== undefined) return [`--http ${shellWord(http.url)}`]
  if (handler !== undefined) return [`--handler ${shellWord(handler)}`]
  if (typeof command === 'string') return [`--command ${shellWord(command)}`]
  return [`--command -- ${(command ?? []).map((word) => shellWord(String(word))).join(' ')}`]
}
