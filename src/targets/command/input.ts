import { isAbsolute, resolve } from 'node:path'
import type { Target } from '../../core/target.ts'
import { isSecretName, isSecretReference, type SecretReference, secretNameExpected } from '../secret.ts'

/** A target that starts a program: a list of its arguments, or one line for `sh -c`. */
export interface CommandTarget {
  readonly command: string | readonly [string, ...(string | SecretReference)[]]
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | SecretReference>> | undefined
}

export interface CommandProblem {
  /** Where it is inside the target: `command[2]`, `env.PATH`. */
  readonly field: string
  /** What is wrong, as a clause after the field's name. */
  readonly problem: string
  /** What would be right. */
  readonly expected: string
}

const fields = ['command', 'cwd', 'env']
const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** A shell stands before every program for an instant, and would not hand these on as they were given. */
const shellNames: ReadonlySet<string> = new Set(['IFS', 'LINENO', 'OLDPWD', 'OPTIND', 'PPID', 'PWD', 'SHLVL', '_'])

/** Everything that is wrong with a command target. Relative paths have been resolved before, by `resolveCommandTarget`. */
export function commandTargetProblems(target: Target): CommandProblem[] {
  return [
    ...Object.keys(target)
      .filter((field) => !fields.includes(field))
      .map((field) => ({ field, problem: 'is not known', expected: `only ${fields.join(', ')}` })),
    ...commandProblems(target.command),
    ...(target.cwd === undefined ? [] : cwdProblems(target.cwd)),
    ...(target.env === undefined ? [] : environmentProblems(target.env)),
  ]
}

function commandProblems(command: unknown): CommandProblem[] {
  if (typeof command === 'string') {
    if (command.trim() === '') return [{ field: 'command', problem: 'is empty', expected: 'a line for sh -c' }]
    return textProblems(command, 'command')
  }
  if (!Array.isArray(command)) {
    return [{ field: 'command', problem: `is ${shown(command)}`, expected: 'a list of arguments, or a line for sh -c' }]
  }
  if (command.length === 0) {
    return [{ field: 'command', problem: 'is an empty list', expected: 'a program and its arguments' }]
  }
  const [program, ...rest] = command as unknown[]
  return [...programProblems(program), ...rest.flatMap((value, index) => valueProblems(value, `command[${index + 1}]`))]
}

function programProblems(program: unknown): CommandProblem[] {
  const field = 'command[0]'
  const expected = 'the name of a program, or an absolute path'
  if (typeof program !== 'string') return [{ field, problem: `is ${shown(program)}`, expected }]
  if (program === '') return [{ field, problem: 'is empty', expected }]
  // Some shells would take it for an option of theirs.
  if (program.startsWith('-')) return [{ field, problem: 'begins with a dash', expected }]
  if (program.includes('/') && !isAbsolute(program)) return [{ field, problem: 'is a relative path', expected }]
  return textProblems(program, field)
}

function cwdProblems(cwd: unknown): CommandProblem[] {
  const expected = 'an absolute path'
  if (typeof cwd !== 'string') return [{ field: 'cwd', problem: `is ${shown(cwd)}`, expected }]
  if (!isAbsolute(cwd)) return [{ field: 'cwd', problem: cwd === '' ? 'is empty' : 'is a relative path', expected }]
  return textProblems(cwd, 'cwd')
}

function environmentProblems(env: unknown): CommandProblem[] {
  if (typeof env !== 'object' || env === null || Array.isArray(env) || isSecretReference(env)) {
    return [{ field: 'env', problem: `is ${shown(env)}`, expected: 'an object of names and texts' }]
  }
  return Object.entries(env).flatMap(([name, value]) => [
    ...nameProblems(name),
    ...valueProblems(value, environmentName.test(name) ? `env.${name}` : `env[${JSON.stringify(name)}]`),
  ])
}

function nameProblems(name: string): CommandProblem[] {
  if (!environmentName.test(name)) {
    const expected = 'a name of letters, digits and _, not beginning with a digit'
    return [{ field: `env[${JSON.stringify(name)}]`, problem: 'has a name that shells cannot hand on', expected }]
  }
  const field = `env.${name}`
  if (name.startsWith('BELFRY_')) {
    return [{ field, problem: 'begins with BELFRY_', expected: 'another name: these are given by Belfry' }]
  }
  if (shellNames.has(name)) {
    return [{ field, problem: 'is a name that shells set by themselves', expected: 'another name' }]
  }
  return []
}

function valueProblems(value: unknown, field: string): CommandProblem[] {
  if (typeof value === 'string') return textProblems(value, field)
  if (!isSecretReference(value)) {
    return [{ field, problem: `is ${shown(value)}`, expected: "a text, or { secret: 'NAME' }" }]
  }
  if (isSecretName(value.secret)) return []
  return [{ field: `${field}.secret`, problem: 'is no name of a secret', expected: secretNameExpected }]
}

function textProblems(text: string, field: string): CommandProblem[] {
  const nulAt = text.indexOf('\0')
  if (nulAt >= 0) {
    return [{ field, problem: `has a NUL character at position ${nulAt}`, expected: 'a text without it' }]
  }
  if (text.isWellFormed()) return []
  return [{ field, problem: 'has half of a surrogate pair', expected: 'well-formed Unicode' }]
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (isSecretReference(value)) return 'a secret'
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`
}

/**
 * Makes paths absolute while it is known what they are relative to: `cwd` to where the target was written, the program
 * to the folder it will run in, as a shell there would. A bare name stays, and is looked up on PATH at dispatch. What is
 * not right in the first place is left for `commandTargetProblems` to name.
 */
export function resolveCommandTarget(target: Target, { cwd }: { readonly cwd: string }): Target {
  const place = isRelative(target.cwd) ? resolve(cwd, target.cwd) : target.cwd
  const resolved = place === undefined ? target : { ...target, cwd: place }
  if (!Array.isArray(target.command)) return resolved
  const [program, ...rest] = target.command as unknown[]
  if (!isRelative(program) || !program.includes('/')) return resolved
  return { ...resolved, command: [resolve(typeof place === 'string' ? place : cwd, program), ...rest] }
}

function isRelative(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path)
}
