import type { Problem } from '../../operations/problem.ts'
import { pathProblems } from '../../config/paths-here.ts'
import type { Texts } from './read-value.ts'

/** Flags that say a target, in place of its JSON. Which of them belong together is said by `of`. */
export const targetFlags = [
  {
    flag: '--command',
    value: '[line]',
    of: 'command',
    says: 'A command: one line for sh, or a program and its arguments behind --.',
  },
  { flag: '--cwd', value: '<folder>', of: 'command', says: 'The folder that the command runs in.' },
  {
    flag: '--env',
    value: '<NAME=value>',
    of: 'command',
    says: 'What the environment of the command has besides; may be repeated.',
  },
  {
    flag: '--env-secret',
    value: '<NAME=SECRET>',
    of: 'command',
    says: 'The same, with the value of a secret, read when the run starts.',
  },
  { flag: '--http', value: '<url>', of: 'http', says: 'A request to this URL.' },
  {
    flag: '--method',
    value: '<method>',
    of: 'http',
    says: 'The method of the request. Default: POST with a body, else GET.',
  },
  { flag: '--header', value: '<Name: value>', of: 'http', says: 'A header of the request; may be repeated.' },
  {
    flag: '--header-secret',
    value: '<Name: SECRET>',
    of: 'http',
    says: 'A header with the value of a secret; may be repeated.',
  },
  {
    flag: '--body',
    value: '<text>',
    of: 'http',
    says: 'The body of the request: a text, @FILE, or - for what is piped in.',
  },
  { flag: '--handler', value: '<name>', of: 'handler', says: 'A handler that a program of yours has registered.' },
] as const

export type TargetFlag = (typeof targetFlags)[number]['flag']
/** What was given behind each flag; true where nothing was. */
export type TargetGiven = { readonly [Flag in TargetFlag]?: readonly (string | true)[] }

/** The target that the flags say; undefined where they say none. `words` is what stands behind `--`. */
export async function targetSaid(
  given: TargetGiven,
  words: readonly string[],
  { texts, problems }: { readonly texts: Texts; readonly problems: Problem[] },
): Promise<Record<string, unknown> | undefined> {
  refuseRepeats(given, problems)
  refuseStrays(given, words, problems)
  refuseRivals(given, words, problems)
  const command = commandOf(given, words, problems)
  const flag = given['--command'] === undefined ? '--' : '--command'
  const fields = { cwd: '--cwd', program: flag }
  problems.push(...pathProblems({ cwd: textOf(given['--cwd']), program: words[0], fields }, texts.folder))
  const http = await httpOf(given, texts, problems)
  const handler = textOf(given['--handler'])
  if (command === undefined && http === undefined && handler === undefined) return undefined
  return { ...command, ...(http !== undefined && { http }), ...(handler !== undefined && { handler }) }
}

const repeatable: ReadonlySet<TargetFlag> = new Set(['--env', '--env-secret', '--header', '--header-secret'])

function refuseRepeats(given: TargetGiven, problems: Problem[]): void {
  for (const { flag } of targetFlags) {
    const count = given[flag]?.length ?? 0
    if (count > 1 && !repeatable.has(flag)) {
      problems.push({ field: flag, problem: `is given ${count} times`, expected: 'it once' })
    }
  }
}

/** A method without a URL says nothing, and dropping it would hide what was meant. */
function refuseStrays(given: TargetGiven, words: readonly string[], problems: Problem[]): void {
  const hasCommand = given['--command'] !== undefined || words.length > 0
  for (const { flag, of } of targetFlags) {
    if (given[flag] === undefined || of === 'handler' || flag === `--${of}`) continue
    if (of === 'command' ? hasCommand : given['--http'] !== undefined) continue
    const expected = of === 'command' ? '--command beside it' : '--http URL beside it'
    problems.push({ field: flag, problem: `is given without --${of}`, expected })
  }
}

function refuseRivals(given: TargetGiven, words: readonly string[], problems: Problem[]): void {
  const program = given['--command'] === undefined && words.length > 0 ? ['a program behind --'] : []
  const [first, ...others] = [
    ...program,
    ...(['--command', '--http', '--handler'] as const).filter((flag) => given[flag] !== undefined),
  ]
  for (const field of others) {
    const expected = 'exactly one of --command, --http and --handler'
    problems.push({ field, problem: `is given beside ${first}`, expected })
  }
}

function commandOf(
  given: TargetGiven,
  words: readonly string[],
  problems: Problem[],
): Record<string, unknown> | undefined {
  const line = given['--command']?.at(-1)
  if (line === undefined && words.length === 0) return undefined
  if (line === true && words.length === 0) {
    const expected = '--command -- PROGRAM ARGUMENT…, or --command "one line for sh"'
    problems.push({ field: '--command', problem: 'names no program', expected })
  }
  const [only = '', ...more] = words
  if (line !== undefined && more.length === 0 && /\s/.test(only)) {
    const problem = `names ${JSON.stringify(only.slice(0, 60))} as one program, blanks and all`
    problems.push({
      field: '--command',
      problem,
      expected: 'each word for itself behind --; a line for sh without the --',
    })
  }
  if (typeof line === 'string' && words.length > 0) {
    problems.push({ field: '--command', problem: 'is given beside words behind --', expected: 'only one of the two' })
  }
  const cwd = textOf(given['--cwd'])
  const env = pairsOf(given, ['--env', '--env-secret'], '=', problems)
  return {
    command: typeof line === 'string' ? line : [...words],
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  }
}

async function httpOf(
  given: TargetGiven,
  texts: Texts,
  problems: Problem[],
): Promise<Record<string, unknown> | undefined> {
  const url = textOf(given['--http'])
  if (url === undefined) return undefined
  const method = textOf(given['--method'])
  const headers = pairsOf(given, ['--header', '--header-secret'], ':', problems)
  const said = textOf(given['--body'])
  const body = said === undefined ? undefined : (await texts.behind('--body', said, problems))?.text
  return {
    url,
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
  }
}

type Pairs = Record<string, string | { readonly secret: string }>

function pairsOf(
  given: TargetGiven,
  [plain, secret]: readonly [TargetFlag, TargetFlag],
  separator: string,
  problems: Problem[],
): Pairs | undefined {
  const pairs = new Map<string, Pairs[string]>()
  for (const flag of [plain, secret]) {
    for (const said of given[flag] ?? []) {
      const text = String(said)
      const cut = text.indexOf(separator)
      const name = text.slice(0, Math.max(0, cut)).trim()
      if (name === '') {
        const expected = targetFlags.find((each) => each.flag === flag)?.value.slice(1, -1) ?? ''
        const problem = `is ${JSON.stringify(text.slice(0, 60))}, which has no name before a ${separator}`
        problems.push({ field: flag, problem, expected })
      } else if (pairs.has(name)) {
        problems.push({ field: flag, problem: `gives ${name} twice`, expected: 'each name once' })
      } else {
        const value = separator === '=' ? text.slice(cut + 1) : text.slice(cut + 1).trim()
        pairs.set(name, flag === secret ? { secret: value } : value)
      }
    }
  }
  return pairs.size === 0 ? undefined : Object.fromEntries(pairs)
}

function textOf(given: readonly (string | true)[] | undefined): string | undefined {
  const last = given?.at(-1)
  return typeof last === 'string' ? last : undefined
}
