import { type Clock, pause } from '../../core/clock.ts'
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

  /** `lastId` is that of the last event that was heard; without it the stream begins now. */
  async stream(request: Request): Promise<Response> {
    const place = placeOf(request)
    if (this.#open.size >= streamsMax) {
      throw new BelfryError('too-many', `There are ${streamsMax} streams open already.`, { hint: 'Close one of them.' })
    }
    const ending = new AbortController()
    this.#open.add(ending)
    request.signal.addEventListener('abort', () => ending.abort(), { once: true })
    const begun = place ?? (await eventsSince(this.#context, null, 1)).place
    const encoder = new TextEncoder()
    const parts = this.#parts(begun, ending.signal)
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { value, done } = await parts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: () => ending.abort(),
    })
    ending.signal.addEventListener('abort', () => this.#open.delete(ending), { once: true })
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    return new Response(body, { headers })
  }

  close(): void {
    for (const ending of this.#open) ending.abort()
  }

  async *#parts(begun: EventPlace, signal: AbortSignal): AsyncGenerator<string> {
    let place = begun
    let spokenAt = this.#clock.monotonic()
    yield `retry: 1000\n: events since ${isoText(place.at)}\n\n`
    while (!signal.aborted) {
      const page = await eventsSince(this.#context, place, pageMax)
      if (page.events.length > 0) {
        yield page.events.map(eventText).join('')
        spokenAt = this.#clock.monotonic()
      } else if (this.#clock.monotonic() - spokenAt >= silenceMs) {
        // A comment with the place, so that whoever comes back after a long silence need not read all of it again.
        yield `id: ${idOf(page.place)}\n: nothing new\n\n`
        spokenAt = this.#clock.monotonic()
      }
      place = page.place
      if (!page.more) await Promise.race([pause(this.#clock, lookMs), aborted(signal)])
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
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
  const text = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('lastEventId')
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
