/**
 * Fields whose texts are labels and not prose: names, ids, zones and the like. Every other text goes into the fence, also
 * one that Belfry wrote itself, because its sentences quote reasons and messages of others. A field that is new is fenced
 * until it stands here.
 */
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

/** A name is text that others chose, and a longer one can be an order to the model. */
const wordsMax = 6
const wordsWithBlanksMax = 3

/** Latin letters only: in a script without spaces a single word can be a whole sentence. */
const alphabet = /^[\p{Script=Latin}\d._:@/+#-]+(?: [\p{Script=Latin}\d._:@/+#-]+){0,2}$/u
/** An order can be written with hyphens or capitals in place of blanks. */
const wordEnd = /[ ._:@/+#-]+|(?<=\p{Ll})(?=\p{Lu})/u
/** A place in a list, as the store spells it: numbers, ids and words of its own, with nothing in it that others chose. */
const cursor = /^(?:[a-z]+\/)?-?\d{1,16}(?:[./](?:-?\d{1,16}|[a-z]+|[a-z]-[0-9a-z]+))+$/
const cronNames = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|[lwh]'
const cronLine = new RegExp(`^(?:(?:[\\d*,/?#-]|${cronNames})+(?: |$)){5,6}$`, 'i')
const contentHash = /^[0-9a-f]{64}$/

/** Whether the text of this field may stand outside the fence. */
export function isLabel(field: string, value: unknown): value is string {
  if (typeof value !== 'string' || !labels.has(field)) return false
  if (field === 'next' && !cursor.test(value)) return false
  return isPlain(value) || (field === 'hash' && contentHash.test(value))
}

/** Whether a text is too short to be an order: a label, or a cron expression. */
export function isPlain(text: string): boolean {
  return text.length <= labelLengthMax && (isShort(text) || cronLine.test(text))
}

/** Numbers are no words: the date or the address in a name orders nothing. */
function isShort(text: string): boolean {
  if (!alphabet.test(text)) return false
  const words = text.split(wordEnd).filter((part) => /\p{L}/u.test(part))
  return words.length <= (text.includes(' ') ? wordsWithBlanksMax : wordsMax)
}
