import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import type { OperationContext } from '../../operations/context.ts'
import { type EventPlace, type EventView, eventsSince } from '../../operations/happening.ts'
import { isoText } from '../../operations/instant.ts'

const pageMax = 500
/** What other processes do is seen this soon. */
const lookMs = 250
/** Proxies close what is silent for long. */
const silenceMs = 15_000
const streamsMax = 100
/** Whether somebody may still listen is asked this often. */
const askMs = 2_000

/**
 * Events as they happen, for whoever listens at a connection that stays open. They are read from the history in the order of time,
 * as far as everything is known to be visible, so that one who comes back with the last id it has heard misses nothing and hears nothing twice.
 */
export class EventStreams {
  readonly #context: OperationContext
  readonly #clock: Clock
  readonly #open = new Set<AbortController>()

  constructor(context: OperationContext) {
    this.#context = context
    this.#clock = context.clock
  }

  /**
   * The stream behind the last event that was heard, or from now on. `isLetIn` is asked now and then: whoever loses the right to listen
   * hears no more.
   */
  async stream(request: Request, isLetIn: () => Promise<boolean>): Promise<Response> {
    const place = placeOf(request)
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    if (request.method === 'HEAD') return new Response(null, { headers })
    if (this.#open.size >= streamsMax) {
      throw new BelfryError('too-many', `There are ${streamsMax} streams open already.`, { hint: 'Close one of them.' })
    }
    const ending = new AbortController()
    this.#open.add(ending)
    ending.signal.addEventListener('abort', () => this.#open.delete(ending), { once: true })
    request.signal.addEventListener('abort', () => ending.abort(), { once: true })
    const encoder = new TextEncoder()
    const parts = this.#parts(place, ending.signal, isLetIn)
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { value, done } = await parts.next()
          if (done !== true) return controller.enqueue(encoder.encode(value))
          ending.abort()
          controller.close()
        } catch (error) {
          ending.abort()
          controller.error(error)
        }
      },
      cancel: () => ending.abort(),
    })
    return new Response(body, { headers })
  }

  close(): void {
    for (const ending of this.#open) ending.abort()
  }

  async *#parts(
    begun: EventPlace | null,
    signal: AbortSignal,
    isLetIn: () => Promise<boolean>,
  ): AsyncGenerator<string> {
    let place = begun ?? (await eventsSince(this.#context, null, 1)).place
    let spokenAt = this.#clock.monotonic()
    let askedAt = spokenAt
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    yield `retry: 1000\n: events since ${isoText(place.at)}\n\n`
    while (!signal.aborted) {
      if (this.#clock.monotonic() - askedAt >= askMs) {
        if (!(await isLetIn())) return
        askedAt = this.#clock.monotonic()
      }
      const page = await eventsSince(this.#context, place, pageMax)
      if (page.events.length > 0) {
        yield page.events.map(eventText).join('')
        spokenAt = this.#clock.monotonic()
      } else if (this.#clock.monotonic() - spokenAt >= silenceMs) {
        // With the place, so that whoever comes back after a long silence need not read all of it again.
        yield `id: ${idOf(page.place)}\n: nothing new\n\n`
        spokenAt = this.#clock.monotonic()
      }
      place = page.place
      if (!page.more) await this.#rest(ended)
    }
  }

  async #rest(ended: Promise<void>): Promise<void> {
    let forget: () => void = () => undefined
    const rested = new Promise<void>((resolve) => {
      forget = this.#clock.after(lookMs, resolve)
    })
    await Promise.race([rested, ended])
    forget()
  }
}

function idOf({ at, rank, number, fence }: EventPlace): string {
  return [at, rank, number, fence].join('.')
}

/** One event as the protocol has it: its name, its id, and its data in one line. */
export function eventText({ place, id, happened: { kind, ...facts } }: EventView): string {
  const data = { id, at: isoText(place.at), ...Object.fromEntries(Object.entries(facts).map(atDoors)) }
  return `event: ${kind}\nid: ${idOf(place)}\ndata: ${JSON.stringify(data)}\n\n`
}

const instants: ReadonlySet<string> = new Set(['startedAt', 'occurrenceAt'])

function atDoors([field, value]: [string, unknown]): [string, unknown] {
  return [field, instants.has(field) && typeof value === 'number' ? isoText(value) : value]
}

/** Browsers send the last id as a header; whoever cannot set one may say it in the address. */
function placeOf(request: Request): EventPlace | null {
  const query = new URL(request.url).searchParams
  const stray = [...query.keys()].find((name) => name !== 'lastEventId')
  if (stray !== undefined) {
    throw new BelfryError('invalid', `${stray} is not something that a stream of events can be asked for.`, {
      hint: 'There is lastEventId, and nothing else.',
    })
  }
  const text = request.headers.get('last-event-id') ?? query.get('lastEventId')
  if (text === null || text === '') return null
  const [, at, rank, number, fence] = /^(\d{1,16})\.([0-3])\.(\d{1,16})\.(\d{1,10})$/.exec(text) ?? []
  const place = { at: Number(at), rank: Number(rank), number: Number(number), fence: Number(fence) }
  if (
    Object.values(place).every((part) => Number.isSafeInteger(part)) &&
    place.at <= instantMax &&
    place.fence < 2 ** 31
  )
    return place
  throw new BelfryError(
    'invalid',
    `The last event id is ${JSON.stringify(text.slice(0, 60))}, which is none of ours.`,
    {
      hint: 'Send the id of the last event as it came.',
    },
  )
}

const instantMax = 8.64e15
