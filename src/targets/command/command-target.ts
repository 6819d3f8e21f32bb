import { isAbsolute, resolve } from 'node:path'
import type { Target } from '../../core/target.ts'
import { isSecretReference, type SecretReference } from '../secret.ts'
import {
  problemAt,
  problemsAmong,
  secretProblems,
  shown,
  type TargetProblem,
  unicodeProblems,
} from '../target-problem.ts'

/** A target that starts a program: a list of its arguments, or one line for `sh -c`. */
export interface CommandTarget {
  readonly command: string | readonly [string, ...(string | SecretReference)[]]
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | SecretReference>> | undefined
}

const fields = ['command', 'cwd', 'env']
const environmentName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** A shell runs for an instant before every program, and would change these variables. */
const shellNames: ReadonlySet<string> = new Set(['IFS', 'LINENO', 'OLDPWD', 'OPTIND', 'PPID', 'PWD', 'SHLVL', '_'])

/** All problems of a command target. `resolveCommandTarget` has made relative paths absolute before. */
export function commandTargetProblems(target: Target): TargetProblem[] {
  return [
    ...Object.keys(target)
      .filter((field) => !fields.includes(field))
      .map((field) => problemAt(field, 'is not known', `only ${fields.join(', ')}`)),
    ...commandProblems(target.command),
    ...(target.cwd === undefined ? [] : cwdProblems(target.cwd)),
    ...(target.env === undefined ? [] : environmentProblems(target.env)),
  ]
}

function commandProblems(command: unknown): TargetProblem[] {
  if (typeof command === 'string') {
    if (command.trim() === '') return [problemAt('command', 'is empty', 'a line for sh -c')]
    return textProblems(command, 'command')
  }
  if (!Array.isArray(command)) {
    return [problemAt('command', `is ${shown(command)}`, 'a list of arguments, or a line for sh -c')]
  }
  if (command.length === 0) {
    return [problemAt('command', 'is an empty list', 'a program and its arguments')]
  }
  return problemsAmong(command, 'command', (value, index) =>
    index === 0 ? programProblems(value) : valueProblems(value, `command[${index}]`),
  )
}

function programProblems(program: unknown): TargetProblem[] {
  const field = 'command[0]'
  const expected = 'the name of a program, or an absolute path'
  if (typeof program !== 'string') return [problemAt(field, `is ${shown(program)}`, expected)]
  if (program === '') return [problemAt(field, 'is empty', expected)]
  // Some shells would read it as an option.
  if (program.startsWith('-')) return [problemAt(field, 'begins with a dash', expected)]
  if (program.includes('/') && !isAbsolute(program)) return [problemAt(field, 'is a relative path', expected)]
  return textProblems(program, field)
}

function cwdProblems(cwd: unknown): TargetProblem[] {
  const expected = 'an absolute path'
  if (typeof cwd !== 'string') return [problemAt('cwd', `is ${shown(cwd)}`, expected)]
  if (!isAbsolute(cwd)) return [problemAt('cwd', cwd === '' ? 'is empty' : 'is a relative path', expected)]
  return textProblems(cwd, 'cwd')
}

function environmentProblems(env: unknown): TargetProblem[] {
  if (typeof env !== 'object' || env === null || Array.isArray(env) || isSecretReference(env)) {
    return [problemAt('env', `is ${shown(env)}`, 'an object of names and texts')]
  }
  return Object.entries(env).flatMap(([name, value]) => [
    ...nameProblems(name),
    ...valueProblems(value, environmentName.test(name) ? `env.${name}` : `env[${JSON.stringify(name)}]`),
  ])
}

function nameProblems(name: string): TargetProblem[] {
  if (!environmentName.test(name)) {
    const expected = 'a name of letters, digits and _, not beginning with a digit'
    return [problemAt(`env[${JSON.stringify(name)}]`, 'has a name that shells cannot pass on', expected)]
  }
  const field = `env.${name}`
  if (name.startsWith('BELFRY_')) {
    return [problemAt(field, 'begins with BELFRY_', 'another name: Belfry sets this one')]
  }
  if (shellNames.has(name)) {
    return [problemAt(field, 'is a name that shells set by themselves', 'another name')]
  }
  return []
}

function valueProblems(value: unknown, field: string): TargetProblem[] {
  if (typeof value === 'string') return textProblems(value, field)
  if (isSecretReference(value)) return secretProblems(value.secret, field)
  return [problemAt(field, `is ${shown(value)}`, "a text, or { secret: 'NAME' }")]
}

function textProblems(text: string, field: string): TargetProblem[] {
  const nulAt = text.indexOf('\0')
  if (nulAt < 0) return unicodeProblems(text, field)
  return [problemAt(field, `has a NUL character at position ${nulAt}`, 'a text without it')]
}

/**
 * Makes paths absolute while their base is known: `cwd` relative to where the target was written, the program relative to the
 * folder it will run in, as a shell there would. A bare name stays, and is looked up on PATH at dispatch. `commandTargetProblems`
 * reports invalid values.
 */
export function resolveCommandTarget(target: Target, folder: string): Target {
  const place = isRelative(target.cwd) ? resolve(folder, target.cwd) : target.cwd
  const resolved = place === undefined ? target : { ...target, cwd: place }
  if (!Array.isArray(target.command)) return resolved
  const [program, ...rest] = target.command as unknown[]
  if (!isRelative(program) || !program.includes('/')) return resolved
  return { ...resolved, command: [resolve(typeof place === 'string' ? place : folder, program), ...rest] }
}

function isRelative(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path)
}
