import { BelfryError } from '../../core/error.ts'
import { HttpProblem } from './problem-details.ts'

/** Requests that wait. A wait ends when its client disconnects, and all end when the server stops. */
export class HeldRequests {
  readonly #open = new Set<AbortController>()

  async whileHeard<Answer>(request: Request, act: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const ending = new AbortController()
    const gone = () => ending.abort(new BelfryError('unavailable', 'The client has closed the connection.'))
    this.#open.add(ending)
    request.signal.addEventListener('abort', gone, { once: true })
    if (request.signal.aborted) gone()
    try {
      return await act(ending.signal)
    } finally {
      this.#open.delete(ending)
      request.signal.removeEventListener('abort', gone)
    }
  }

  close(): void {
    const stopping = new BelfryError('unavailable', 'The server is stopping.', { hint: 'Try again when it is back.' })
    // An idle keep-alive connection would keep the server from closing.
    const reason = new HttpProblem(503, stopping, { connection: 'close' })
    for (const ending of this.#open) ending.abort(reason)
  }
}
