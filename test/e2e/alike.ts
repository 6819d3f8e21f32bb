/**
 * Answers of two stores as they can be compared. What differs in every store is told by what it is: ids in the order in
 * which they appear, instants that nobody asked for, and how long something took, if it took a millisecond at all. An instant of an answer
 * that is on a whole minute was asked for; one that is shown there without its seconds may be so by chance.
 */
export class Alike {
  readonly #ids = new Map<string, string>()
  readonly #store: readonly [RegExp, string][]

  constructor(places: readonly string[]) {
    this.#store = places.map((place) => [new RegExp(place.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'g'), '<store>'])
  }

  text(text: string, name = this.#named): string {
    const placed = this.#store.reduce((so, [place, word]) => so.replace(place, word), text)
    return placed
      .replace(/\bbelfry --store <store> --schema \w+ /g, 'belfry ')
      .replace(/\bbelfry --server <store> /g, 'belfry ')
      .replace(/belfry_t-\w+_[0-9a-f]{64}/g, '<token>')
      .replace(/\b[0-9a-f]{32}\b/g, '<claim>')
      .replace(/\b[0-9a-f]{8}\b/g, '<task>')
      .replace(/\bcorpus \d+ <claim>/g, 'corpus <id> <claim>')
      .replace(/\b\d{13}\/(?=[er]-)/g, '<instant>/')
      .replace(/\b[ehorstw]-[0-9a-z]{2,}\b/g, name)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:(?!00(\.000)?Z)\d\d(\.\d+)?Z/g, '<instant>')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? /g, '<instant> ')
      .replace(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d:\d\d(:\d\d)?/g, '<instant>')
      .replace(/\b(in )?\d+(\.\d+)? ?(ms|s|min|h|d)\b( \d+ (ms|s|min|h|d)\b)*( ago)?/g, '<time>')
      .replace(/\b(\d+[hm])*(\d+s\d+ms|\d+s|\d+ms)\b/g, '<time>')
      .replace(/\bpaused for (\d+[dhms])+/g, 'paused for <time>')
      .replace(/"durationMs":\d+/g, '"durationMs":<time>')
      .replace(/\bnow\b/g, '<time>')
      .replace(/^ *it started <time> late\n/gm, '')
      .replace(/[ ─]{2,}/g, '  ')
      .replace(/ +$/gm, '')
  }

  json(value: unknown): unknown {
    return this.#value(value, (text) => this.text(text))
  }

  /** Of a rehearsal. An id that it names first is nobody's: the next that is made may get it, or a worker was faster. */
  rehearsal(value: unknown): unknown {
    return this.#value(value, (text) => this.text(text, (id) => this.#ids.get(id) ?? `${id.slice(0, 2)}<none>`))
  }

  #value(value: unknown, text: (text: string) => string, name = ''): unknown {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return measured.test(name) ? `<${name}>` : value
    if (Array.isArray(value)) return value.map((item) => this.#value(item, text, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, this.#value(field, text, key)]))
  }

  readonly #named = (id: string): string => {
    const known = this.#ids.get(id)
    if (known !== undefined) return known
    const name = `${id.slice(0, 2)}${this.#ids.size}`
    this.#ids.set(id, name)
    return name
  }
}

const measured = /^(durationMs|firedMs|startedMs|waitedMs|tookMs)$/
