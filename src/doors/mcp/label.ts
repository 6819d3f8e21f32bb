/** Fields whose texts are labels, not prose: names, ids, time zones. Every other text is fenced, even Belfry's own sentences, because they quote texts of others. A new field is fenced until it is listed here. */
const labels: ReadonlySet<string> = new Set([
  ...['id', 'ids', 'name', 'run', 'runId', 'live', 'schedule', 'scheduleId', 'queue', 'queues', 'worker', 'workerId'],
  ...[
    'waitsFor',
    'retryOf',
    'causedBy',
    'event',
    'lease',
    'next',
    'zone',
    'cron',
    'outcome',
    'door',
    'changed',
    'field',
  ],
  ...['host', 'kinds', 'handlers', 'hash', 'confirm', 'hook', 'store', 'source'],
])

const labelLengthMax = 60

/** A name is chosen by others, and a longer one can contain an instruction to the model. */
const wordsMax = 6
const wordsWithBlanksMax = 3

/** Latin letters only: in a script without spaces one word can be a whole sentence. */
const alphabet = /^[\p{Script=Latin}\d._:@/+#-]+(?: [\p{Script=Latin}\d._:@/+#-]+){0,2}$/u
/** Hyphens or capitals can replace the spaces of an instruction. */
const wordEnd = /[ ._:@/+#-]+|(?<=\p{Ll})(?=\p{Lu})/u
/** A list cursor as the store writes it: numbers, ids and its own words, and nothing that others chose. */
const cursor = /^(?:[a-z]+\/)?-?\d{1,16}(?:[./](?:-?\d{1,16}|[a-z]+|[a-z]-[0-9a-z]+))+$/
const cronNames = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|[lwh]'
const cronLine = new RegExp(`^(?:(?:[\\d*,/?#-]|${cronNames})+(?: |$)){5,6}$`, 'i')
const contentHash = /^[0-9a-f]{64}$/

/** Whether the text of this field may appear outside the fence. */
export function isLabel(field: string, value: unknown): value is string {
  if (typeof value !== 'string' || !labels.has(field)) return false
  if (field === 'next' && !cursor.test(value)) return false
  return isPlain(value) || (field === 'hash' && contentHash.test(value))
}

/** Whether a text is too short for an instruction: a label, or a cron expression. */
export function isPlain(text: string): boolean {
  return text.length <= labelLengthMax && (isShort(text) || cronLine.test(text))
}

/** Numbers are not counted as words: a date or address in a name is no instruction. */
function isShort(text: string): boolean {
  if (!alphabet.test(text)) return false
  const words = text.split(wordEnd).filter((part) => /\p{L}/u.test(part))
  return words.length <= (text.includes(' ') ? wordsWithBlanksMax : wordsMax)
}
