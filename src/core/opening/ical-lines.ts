/** A property of an event, such as `DTSTART;VALUE=DATE:20261225`. */
export interface IcalProperty {
  readonly line: number
  readonly name: string
  readonly params: Readonly<Record<string, string>>
  readonly value: string
}

/** A component of a file, with the properties that are directly in it. */
export interface IcalComponent {
  readonly line: number
  readonly name: string
  readonly properties: readonly IcalProperty[]
}

/** What could not be taken from a file, with its line. */
export interface UnreadIcal {
  readonly line: number
  readonly text: string
  readonly problem: string
}

const textLengthMax = 100

export function unread(line: number, text: string, problem: string): UnreadIcal {
  return { line, text: text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text, problem }
}

/** Components that are skipped: time zones are known by their names, and alarms close nothing. */
const passed = new Set(['VCALENDAR', 'VTIMEZONE', 'STANDARD', 'DAYLIGHT', 'VALARM'])

export interface IcalFile {
  readonly events: readonly IcalComponent[]
  readonly unread: readonly UnreadIcal[]
  /** Where the text shows that it is no whole calendar; null for a whole one. Events of a cut text are missing from it. */
  readonly broken: UnreadIcal | null
}

/** The events of an iCalendar text. A line that begins with a space belongs to the one before. */
export function icalFile(text: string): IcalFile {
  const events: IcalComponent[] = []
  const problems: UnreadIcal[] = []
  const broken: UnreadIcal[] = []
  const open: { line: number; name: string; properties: IcalProperty[] }[] = []
  const lines = unfolded(text)
  const [first] = lines
  if (first === undefined || first.content.trim().toUpperCase() !== 'BEGIN:VCALENDAR') {
    broken.push(unread(first?.line ?? 1, first?.content ?? '', 'is not BEGIN:VCALENDAR'))
  }
  for (const { line, content } of lines) {
    const property = propertyIn(line, content)
    const current = open.at(-1)
    if (property === null) problems.push(unread(line, content, 'is not a property: NAME:VALUE'))
    else if (property.name === 'BEGIN') open.push({ line, name: property.value.toUpperCase(), properties: [] })
    else if (property.name !== 'END') {
      if (current === undefined) problems.push(unread(line, content, 'is in no component: BEGIN:VCALENDAR is missing'))
      else current.properties.push(property)
    } else if (current === undefined || property.value.toUpperCase() !== current.name) {
      broken.push(unread(line, content, `ends ${current === undefined ? 'nothing' : `no ${current.name}`}`))
    } else {
      open.pop()
      if (current.name === 'VEVENT') events.push(current)
      else if (!passed.has(current.name)) {
        problems.push(unread(current.line, `BEGIN:${current.name}`, 'is not an event: only VEVENT is read'))
      }
    }
  }
  // The innermost one is where the text was cut.
  for (const { line, name } of open.toReversed()) broken.push(unread(line, `BEGIN:${name}`, `has no END:${name}`))
  return { events, unread: [...problems, ...broken], broken: broken[0] ?? null }
}

function unfolded(text: string): { line: number; content: string }[] {
  const lines: { line: number; content: string }[] = []
  for (const [index, content] of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const last = lines.at(-1)
    if (/^[ \t]/.test(content) && last !== undefined) last.content += content.slice(1)
    else if (content !== '') lines.push({ line: index + 1, content })
  }
  return lines
}

function propertyIn(line: number, content: string): IcalProperty | null {
  const [, head = '', value = ''] = /^((?:[^":]|"[^"]*")*):(.*)$/s.exec(content) ?? []
  const [name = '', ...given] = head.split(';')
  if (!/^[A-Za-z0-9-]+$/.test(name)) return null
  const params = given.map((param) => {
    const [key = '', text = ''] = param.split(/=(.*)/s)
    return [key.toUpperCase(), text.replaceAll('"', '')] as const
  })
  return { line, name: name.toUpperCase(), params: Object.fromEntries(params), value: value.trim() }
}
