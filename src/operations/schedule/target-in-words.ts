import type { Target } from '../../core/target.ts'
import { shellWord } from '../shell-words.ts'
import { plainText, shortText } from './plain-text.ts'

const wordsLengthMax = 300

/** Says what a target does. A secret is told by its name; environment, headers and body are not told at all. */
export function targetInWords(target: Target | null | undefined): string {
  if (target === null || target === undefined) return 'no target: its runs are for outside hosts'
  return shortText(wordsOf(target), wordsLengthMax)
}

function wordsOf(target: Target): string {
  const { handler, command, http, cwd } = target
  if (handler !== undefined) return `handler ${handler}`
  if (command !== undefined) return `runs ${commandText(command)}${cwd === undefined ? '' : ` in ${cwd}`}`
  if (http !== undefined) return requestText(http as { url?: unknown; method?: unknown; body?: unknown })
  return Object.keys(target).join(', ')
}

/** As a shell would take it, so that it can be tried by hand; a whole line is left as it is. */
function commandText(command: unknown): string {
  return Array.isArray(command) ? command.map(argumentText).join(' ') : `${command} by sh -c`
}

/** What is no text in a list of arguments is a secret. */
function argumentText(argument: unknown): string {
  if (typeof argument !== 'string') return `{secret ${(argument as { secret?: unknown } | null)?.secret}}`
  return shellWord(plainText(argument))
}

function requestText({ url, method, body }: { url?: unknown; method?: unknown; body?: unknown }): string {
  return `${method ?? (body === undefined ? 'GET' : 'POST')} ${url}`
}
