import type { Hono } from 'hono'
import { BelfryError } from '../../core/error.ts'
import { readJson } from '../../core/json/json-text.ts'
import { tooOften } from '../../doors/http/authenticator.ts'
import type { AddRoutes, PartDoor } from '../../doors/http/part.ts'
import { HttpProblem } from '../../doors/http/problem-details.ts'
import { type BodyLimit, bytesOf, decoded } from '../../doors/http/read-request.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import { clockNow } from '../../store/statement.ts'
import { type EventTaken, hookOf, type Routine, routineOf } from './operations/routine-answer.ts'
import { takeEvent } from './operations/take-event.ts'
import { findRoutine } from './read-routines.ts'
import { signatureStyles } from './webhook-signature.ts'

type Signing = NonNullable<Routine['signing']>

interface Event {
  readonly deliveryId: string
  readonly type?: string
  readonly payload: unknown
}

/** Webhooks: signed events from senders without a token. Nothing of a delivery is parsed or written before its signature is verified, and a refusal reveals only that the signature is wrong. */
class Webhooks {
  readonly #options: PartDoor

  constructor(options: PartDoor) {
    this.#options = options
  }

  addTo(app: Hono): void {
    app.post('/hooks/:name', ({ req }) => this.#taken(req.param('name'), req.raw))
    app.all('/hooks/:name', () => {
      throw new HttpProblem(405, new BelfryError('invalid', 'Send webhooks with POST.'), { allow: 'POST' })
    })
  }

  async #taken(name: string, request: Request): Promise<Response> {
    const { context, gate } = this.#options
    const { id, signing } = await this.#routineOf(name)
    const { headers } = request
    const { isSigned, isGenuine } = signatureStyles[signing.style]
    // Without a signature a large body is not read.
    if (!isSigned(headers)) throw this.#forged()
    const waitMs = gate.countUnproven(hookOf(name))
    const body = await (waitMs === 0 ? bytesOf(request) : bytesOf(request, smallOnly(waitMs)))
    const now = await context.store.look(clockNow)
    const key = await this.#keyOf(signing)
    if (!isGenuine({ headers, body, now }, key)) throw this.#forged()
    if (waitMs === 0) gate.forgetUnproven(hookOf(name))
    gate.slowSender(hookOf(name))
    const event = eventIn(signing, headers, body)
    // GitHub's ping is not an event.
    if (signing.style === 'github' && event.type === 'ping') return answered({ outcome: 'ping' })
    const { outcome, run } = await this.#fired({ name, routineId: id, ...event }, signing)
    const isToldOf = run !== null && (outcome === 'fired' || outcome === 'duplicate')
    return answered({ outcome, ...(isToldOf && { run }) })
  }

  async #routineOf(name: string): Promise<{ readonly id: string; readonly signing: Signing }> {
    const { context, gate } = this.#options
    const found = await context.store.look(findRoutine, name)
    const { id, signing } = found === null ? { id: '', signing: undefined } : routineOf(found)
    if (signing !== undefined) return { id, signing }
    gate.slowStranger()
    throw absent(name)
  }

  /** The operator learns why a signature cannot be checked; the sender does not. */
  async #keyOf({ style, secret }: Signing): Promise<Buffer> {
    const { gate, secretOf, onUnforeseen } = this.#options
    try {
      const { keyOf, secretExpected } = signatureStyles[style]
      const key = keyOf((await secretOf?.(secret)) ?? '')
      if (key !== null) return key
      const message = `The secret ${secret.secret} is not valid for ${style} webhooks`
      throw new BelfryError('unavailable', `${message}: it must be ${secretExpected}.`)
    } catch (error) {
      // The sender is not authenticated yet, and must not be able to fill the log.
      gate.slowStranger()
      onUnforeseen?.(error)
      throw new BelfryError('unavailable', 'The signature cannot be checked now.', { hint: 'Send it again later.' })
    }
  }

  /** Every faulty delivery gets the same answer and is counted. */
  #forged(): HttpProblem {
    this.#options.gate.slowStranger()
    return forged()
  }

  async #fired(
    event: Event & { readonly name: string; readonly routineId: string },
    { style }: Signing,
  ): Promise<EventTaken> {
    const { context } = this.#options
    const { name } = event
    const actor = { name: `${style} webhook`, door: 'webhook' }
    const store = context.store.audited({ actor, verb: 'routine.fire', subject: `routine ${name}` })
    try {
      return await takeEvent({ ...context, actor, store }, event)
    } catch (error) {
      if (!(error instanceof BelfryError)) throw error
      // Senders must not learn the names of other routines.
      if (error.code === 'not-found') throw absent(name)
      throw isTooLarge(error) ? new HttpProblem(413, error) : error
    }
  }
}

export const addWebhooks: AddRoutes = (app, door) => new Webhooks(door).addTo(app)

/** During a flood of forged deliveries only bodies up to this size are read to check their signature: most genuine ones are smaller, and a forged megabyte costs only its headers. */
const floodBytesMax = 65_536

function smallOnly(waitMs: number): BodyLimit {
  const refusal = () =>
    tooOften(waitMs, `Deliveries over ${floodBytesMax} bytes are refused now: too many came with a wrong signature.`)
  return { bytesMax: floodBytesMax, refusal }
}

function answered(answer: object): Response {
  return Response.json(answer, { status: 202, headers: { 'cache-control': 'no-store' } })
}

function absent(name: string): HttpProblem {
  const error = new BelfryError('not-found', `No routine takes webhooks at ${hookOf(name).slice(0, 200)}.`, {
    hint: 'The routine has another name, or no `signing`.',
  })
  return new HttpProblem(404, error)
}

function forged(): HttpProblem {
  const error = new BelfryError('unauthenticated', 'The signature is missing or does not match this delivery.', {
    hint: 'Sign each delivery when it is sent, with the secret that the routine names.',
  })
  return new HttpProblem(401, error, { 'www-authenticate': 'Signature' })
}

/** More than the payload of a run may have. */
function isTooLarge({ code, details }: BelfryError): boolean {
  const problems = (details?.problems ?? []) as readonly Problem[]
  return code === 'invalid' && problems.some(({ field, problem }) => field === 'payload' && / bytes /.test(problem))
}

function eventIn({ style }: Signing, headers: Headers, body: Buffer): Event {
  const text = decoded(body)
  if (style === 'github') return githubEvent(headers, text)
  const payload = jsonIn(text)
  const { type } = (payload ?? {}) as { readonly type?: unknown }
  // Standard Webhooks have the event type in the signed body.
  return {
    deliveryId: headers.get('webhook-id') ?? '',
    payload,
    ...(typeof type === 'string' && type !== '' && { type }),
  }
}

function githubEvent(headers: Headers, text: string): Event {
  const deliveryId = headers.get('x-github-delivery') ?? ''
  if (deliveryId === '') {
    throw new BelfryError('invalid', 'The delivery has no id.', { hint: 'Send the header X-GitHub-Delivery.' })
  }
  const type = headers.get('x-github-event') ?? ''
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers.get('content-type') ?? '')
  const payload = jsonIn(isForm ? (new URLSearchParams(text).get('payload') ?? '') : text)
  return { deliveryId, payload, ...(type !== '' && { type }) }
}

function jsonIn(text: string): unknown {
  const read = readJson(text)
  if ('value' in read) return read.value
  throw new BelfryError('invalid', `The payload is ${read.problem}.`, { hint: `Send ${read.expected ?? 'JSON'}.` })
}
