import type { Clock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { type EventCursor, type EventView, eventsSince } from '../../operations/events-since.ts'
import { isoText } from '../../operations/input/instant.ts'
import { quoted } from '../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { Caller } from './authenticator.ts'
import { EventPoll, pageMax } from './event-poll.ts'

/** Proxies close silent connections. */
const silenceMs = 15_000
const streamsMax = 100
/** A caller with more streams has most likely forgotten to close some, and must not take those of others. */
const streamsOfTokenMax = 20
/** How often the token of a listener is checked again. */
const askMs = 2_000

/** The listeners with one token. */
interface Listeners {
  streams: number
  askedAt: number
  isLetIn: Promise<boolean>
}

/** A listener, and how to check its token again. */
export interface Listening {
  readonly caller: Pick<Caller, 'name'>
  readonly isLetIn: () => Promise<boolean>
}

/**
 * Server-sent events. They are read from the history in order of time, only as far as every event is visible, so that a
 * client that reconnects with its last id misses nothing and receives nothing twice. Listeners that are up to date share
 * one poll.
 */
export class EventStreams {
  readonly #context: OperationContext
  readonly #clock: Clock
  readonly #look: EventPoll
  readonly #open = new Set<AbortController>()
  readonly #listeners = new Map<string, Listeners>()

  constructor(context: OperationContext) {
    this.#context = context
    this.#clock = context.clock
    this.#look = new EventPoll(context)
  }

  /** The stream after the last received event, or from now on. The token is checked again from time to time; when it is no longer valid the stream ends. */
  async stream(request: Request, listening: Listening): Promise<Response> {
    const place = placeOf(request)
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    if (request.method === 'HEAD') return new Response(null, { headers })
    const token = request.headers.get('authorization') ?? ''
    const ending = this.#opened(token, listening)
    request.signal.addEventListener('abort', () => ending.abort(), { once: true })
    const encoder = new TextEncoder()
    const isLetIn = () => this.#isLetIn(token, listening)
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

  /** Takes one of the streams, and frees it when the stream ends. */
  #opened(token: string, { caller: { name } }: Listening): AbortController {
    const own = this.#listeners.get(token) ?? {
      streams: 0,
      askedAt: this.#clock.monotonic(),
      isLetIn: Promise.resolve(true),
    }
    if (own.streams >= streamsOfTokenMax) {
      throw new BelfryError('too-many', `Token ${quoted(name)} already has ${streamsOfTokenMax} open streams.`, {
        hint: 'Close one of them: each stream carries all events, so a program needs only one.',
      })
    }
    if (this.#open.size >= streamsMax) {
      throw new BelfryError('too-many', `All ${streamsMax} streams are in use.`, { hint: 'Close one of them.' })
    }
    const ending = new AbortController()
    this.#open.add(ending)
    this.#listeners.set(token, own)
    own.streams += 1
    const leave = () => {
      this.#open.delete(ending)
      own.streams -= 1
      if (own.streams === 0) this.#listeners.delete(token)
    }
    ending.signal.addEventListener('abort', leave, { once: true })
    return ending
  }

  /** Checked once for all listeners with one token. */
  #isLetIn(token: string, { isLetIn }: Listening): Promise<boolean> {
    const own = this.#listeners.get(token)
    if (own === undefined) return isLetIn()
    if (this.#clock.monotonic() - own.askedAt >= askMs) {
      own.askedAt = this.#clock.monotonic()
      own.isLetIn = isLetIn()
    }
    return own.isLetIn
  }

  async *#parts(
    begun: EventCursor | null,
    signal: AbortSignal,
    isLetIn: () => Promise<boolean>,
  ): AsyncGenerator<string> {
    let place = begun ?? (await eventsSince(this.#context, null, 1)).place
    let spokenAt = this.#clock.monotonic()
    let [isAtHead, isShared] = [false, false]
    const waitAt = this.#look.seat(signal)
    yield `retry: 1000\n: events since ${isoText(place.at)}\n\n`
    while (!signal.aborted) {
      if (!(await isLetIn())) return
      // Others may have received more while this listener was slow. A listener that is up to date waits in any case.
      isShared = isAtHead && !(isShared && this.#look.isPast(place))
      const page = isShared ? await waitAt(place) : await eventsSince(this.#context, place, pageMax)
      if (page === null) return
      if (page.events.length > 0) {
        yield page.events.map(eventText).join('')
        spokenAt = this.#clock.monotonic()
      } else if (this.#clock.monotonic() - spokenAt >= silenceMs) {
        // With the cursor, so that a client that reconnects after a long silence need not read all of it again.
        yield `id: ${idOf(page.place)}\n: nothing new\n\n`
        spokenAt = this.#clock.monotonic()
      }
      place = page.place
      isAtHead = !page.more
    }
  }
}

function idOf({ at, rank, number, fence }: EventCursor): string {
  return [at, rank, number, fence].join('.')
}

/** One event in the SSE format: name, id, and data in one line. */
export function eventText({ place, id, happened: { kind, ...facts } }: EventView): string {
  const data = { id, at: isoText(place.at), ...Object.fromEntries(Object.entries(facts).map(atDoors)) }
  return `event: ${kind}\nid: ${idOf(place)}\ndata: ${JSON.stringify(data)}\n\n`
}

const instants: ReadonlySet<string> = new Set(['startedAt', 'occurrenceAt'])

function atDoors([field, value]: [string, unknown]): [string, unknown] {
  return [field, instants.has(field) && typeof value === 'number' ? isoText(value) : value]
}

/** Browsers send the last id as a header; a client that cannot set headers may send it in the query. */
function placeOf(request: Request): EventCursor | null {
  const query = new URL(request.url).searchParams
  const stray = [...query.keys()].find((name) => name !== 'lastEventId')
  if (stray !== undefined) {
    throw new BelfryError('invalid', `${stray} is not a parameter of the event stream.`, {
      hint: 'The only parameter is lastEventId.',
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
    `The last event id is ${JSON.stringify(text.slice(0, 60))}, which Belfry did not issue.`,
    {
      hint: 'Send the id of the last event unchanged.',
    },
  )
}

const instantMax = 8.64e15
