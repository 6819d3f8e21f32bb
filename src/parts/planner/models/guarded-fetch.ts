import { Agent, fetch as guardable } from 'undici'
import { type NetworkPolicy, networkGuard } from '../../../targets/http/address-guard.ts'
import { connect, sharedLookup } from '../../../targets/http/connect.ts'

const responseBytesMax = 2 * 1024 * 1024

export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void>
}

/**
 * A `fetch` through our address guard. It connects to the address that was checked, does not follow redirects, and reads at most 2 MB of an
 * answer.
 */
export function guardedFetch(network: NetworkPolicy): GuardedFetch {
  const route = { guard: networkGuard(network), lookup: sharedLookup() }
  const agent = new Agent({
    connect: ({ protocol, hostname, port }, answer) => {
      const url = new URL(`${protocol}//${hostname}${port === '' ? '' : `:${port}`}`)
      connect(url, route, AbortSignal.timeout(30_000)).then(
        (socket) => answer(null, socket),
        (error: Error) => answer(error, null),
      )
    },
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const called = async (input: unknown, init: object = {}) => {
    const options = { ...init, dispatcher: agent, redirect: 'error' } as never
    const answer = await guardable(String(input instanceof Request ? input.url : input), options)
    const { body, status, statusText, headers } = answer
    const bounded = body === null ? null : (body as unknown as ReadableStream<Uint8Array>).pipeThrough(capped())
    return new Response(bounded, { status, statusText, headers: Object.fromEntries(headers.entries()) })
  }
  return { fetch: called as typeof globalThis.fetch, close: () => agent.destroy() }
}

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
}

function capped(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > responseBytesMax)
        controller.error(new AnswerTooLong(`the answer is longer than ${responseBytesMax} bytes`))
      else controller.enqueue(chunk)
    },
  })
}
