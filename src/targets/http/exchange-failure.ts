/** Why an exchange got no answer, in a sentence for people. The sentence shows no more of a URL than the host. */
export class ExchangeFailure extends Error {
  /** `true`: nothing was sent. `false`: a retry would fail too. Absent: unknown. */
  readonly retryable: boolean | undefined

  constructor(sentence: string, { retryable, cause }: { retryable?: boolean; cause?: unknown } = {}) {
    super(sentence, { cause })
    this.name = 'ExchangeFailure'
    this.retryable = retryable
  }
}

export function notAllowed(refusal: string): ExchangeFailure {
  return new ExchangeFailure(refusal, { retryable: false })
}

/** The name could not be resolved. Nothing was sent. */
export function unresolved(host: string, cause: unknown): ExchangeFailure {
  return new ExchangeFailure(`the name ${host} could not be resolved (${codeOf(cause)})`, { retryable: true, cause })
}

/** No connection was made, so nothing was sent. */
export function unconnected(host: string, cause: unknown, isSecuring: boolean): ExchangeFailure {
  const code = codeOf(cause)
  if (isSecuring) {
    return new ExchangeFailure(`TLS with ${host} failed: ${wordsOf(cause)} (${code})`, { retryable: true, cause })
  }
  const what = code === 'ECONNREFUSED' ? 'refused the connection' : `could not be reached (${code})`
  return new ExchangeFailure(`${host} ${what}`, { retryable: true, cause })
}

/** The connection broke during use. Whether the server has done the work is unknown. */
export function broken(host: string, stage: string, cause: unknown): ExchangeFailure {
  return new ExchangeFailure(`${host} ${stage}: ${wordsOf(cause)} (${codeOf(cause)})`, { cause })
}

export function stopped(stage: string, reason: unknown): ExchangeFailure {
  return new ExchangeFailure(`stopped while ${stage} (${typeof reason === 'string' ? reason : 'aborted'})`)
}

function codeOf(cause: unknown): string {
  const { code, name } = (cause ?? {}) as { code?: unknown; name?: unknown }
  return String(code ?? name ?? 'unknown error')
}

/** OpenSSL repeats its message three times, but its reason once. Node combines several errors into one without a message. */
function wordsOf(cause: unknown): string {
  const { reason, message } = (cause ?? {}) as { reason?: unknown; message?: unknown }
  if (typeof reason === 'string' && reason !== '') return reason
  return typeof message === 'string' && message !== '' ? message : 'no reason given'
}
