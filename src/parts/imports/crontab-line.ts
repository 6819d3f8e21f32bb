export type CrontabLine =
  | { readonly kind: 'blank' }
  | { readonly kind: 'comment'; readonly text: string }
  | { readonly kind: 'setting'; readonly name: string; readonly value: string }
  | { readonly kind: 'job'; readonly calendar: string; readonly user: string | null; readonly command: string }
  | { readonly kind: 'stray'; readonly why: string }

const setting = /^(?:"([^"]*)"|'([^']*)'|([A-Za-z_][A-Za-z0-9_]*))[ \t]*=[ \t]*(.*)$/
const shorthand = /^(@\S+)(?:[ \t]+(.*))?$/
const fields = /^((?:\S+[ \t]+){4}\S+)(?:[ \t]+(.*))?$/

/** Reads one line as cron would; a system crontab has a user before each command. */
export function crontabLine(text: string, { system }: { readonly system: boolean }): CrontabLine {
  const line = text.replace(/^[ \t]+/, '').trimEnd()
  if (line === '') return { kind: 'blank' }
  if (line.startsWith('#')) return { kind: 'comment', text: line.replace(/^#+ ?/, '') }
  const set = setting.exec(line)
  if (set !== null) return { kind: 'setting', name: set[1] ?? set[2] ?? set[3] ?? '', value: unquoted(set[4] ?? '') }
  const [, calendar, rest = ''] = (line.startsWith('@') ? shorthand : fields).exec(line) ?? []
  if (calendar === undefined) return { kind: 'stray', why: 'it is neither a setting nor five fields and a command' }
  return jobOf(calendar.replace(/[ \t]+/g, ' '), rest, system)
}

/** Quotes keep spaces at the ends of a value, and are no part of it. */
function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value
}

// Words of a calendar, which are no program names: `*`, `*/5`, `?`, `1-5`, `2026`, `MON-FRI`.
const calendarField =
  /^(?:[*?](?:\/\d+)?|\d+(?:[-,/]\d+)*|(?:sun|mon|tue|wed|thu|fri|sat)(?:[-,](?:sun|mon|tue|wed|thu|fri|sat))*)$/i
const sixFields =
  'it has six fields before its command, and a crontab has five: remove the seconds at the start, or the year at the end'

/** A user name, with its group where cron allows one. */
const userName = /^[A-Za-z_][\w.-]*\$?(?::[\w.-]+)?$/

/**
 * No single line shows whether it has a user before its command. If the setting is wrong, a user would be read as a program or a program as
 * a user, so a line that contradicts the setting is not imported.
 */
function jobOf(calendar: string, rest: string, system: boolean): CrontabLine {
  const [, user = '', afterUser = ''] = /^(\S+)(?:[ \t]+(.*))?$/.exec(rest) ?? []
  if (!calendar.startsWith('@') && calendarField.test(user)) return { kind: 'stray', why: sixFields }
  const command = system ? afterUser : rest
  if (command === '') {
    return { kind: 'stray', why: `it has no command after its calendar${system ? ' and its user' : ''}` }
  }
  if (!system && user === 'root') {
    return {
      kind: 'stray',
      why: 'its command begins with the user root, as in a system crontab: import it with system',
    }
  }
  if (system && !userName.test(user)) {
    return { kind: 'stray', why: 'it has no user before its command, as a system crontab requires' }
  }
  return { kind: 'job', calendar, user: system ? user : null, command }
}

/** A command without cron's own syntax: `\%` is a percent sign, and text after a bare one is input for the command. `null` when there is such input. */
export function commandIn(text: string): string | null {
  let plain = ''
  let isEscaped = false
  for (const letter of text) {
    if (letter === '%' && !isEscaped) return null
    plain = letter === '%' ? `${plain.slice(0, -1)}%` : plain + letter
    isEscaped = letter === '\\' && !isEscaped
  }
  return plain
}

/** Words before a program that are not a good name for the job. */
const wrappers: ReadonlySet<string> = new Set([
  ...['sudo', 'env', 'nice', 'ionice', 'exec', 'time', 'timeout', 'flock', 'chronic', 'nohup', 'setsid', 'sh', 'bash'],
  ...['if', 'then', '!', '(', '{', 'command'],
])
/** Words that begin a preparatory command before the main one. */
const leading: ReadonlySet<string> = new Set(['cd', 'test', '[', 'export', 'umask', 'sleep', '.', 'source', 'set'])
const operators: ReadonlySet<string> = new Set(['&&', '||', ';', '|', '&'])

/** The file name of the program, as a name for the schedule. */
export function programName(command: string): string {
  const words = command.replace(/&&|\|\||[;|&({]/g, ' $& ').split(/\s+/)
  let isLeading = false
  for (const word of words) {
    if (operators.has(word)) isLeading = false
    else if (leading.has(word)) isLeading = true
    else if (!isLeading && !isBesides(word)) return nameOf(word)
  }
  return nameOf(words.find((word) => leading.has(word)) ?? '')
}

function isBesides(word: string): boolean {
  return word === '' || wrappers.has(baseName(word)) || /^[A-Za-z_][A-Za-z0-9_]*=/.test(word) || /^[-\d]/.test(word)
}

function baseName(word: string): string {
  return word.replace(/\/+$/, '').replace(/^.*\//, '')
}

const nameLengthMax = 60

function nameOf(word: string): string {
  const plain = baseName(word.replace(/["'`]/g, ''))
    .replace(/\.(sh|bash|py|pl|rb|js|mjs|php)$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, nameLengthMax)
  return plain === '' ? 'job' : plain
}
