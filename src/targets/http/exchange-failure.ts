/** Why an exchange came to no answer, in a sentence for people. It never shows more of a URL than its host. */
export class ExchangeFailure extends Error {
  /** `true`: nothing was sent. `false`: it will be no better next time. Absent: nobody knows. */
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

/** The name could not be turned into addresses. Nothing was sent. */
export function unresolved(host: string, cause: unknown): ExchangeFailure {
  return new ExchangeFailure(`the name ${host} could not be resolved (${codeOf(cause)})`, { retryable: true, cause })
}

/** No connection came about, so that nothing can have been sent on it. */
export function unconnected(host: string, cause: unknown, isSecuring: boolean): ExchangeFailure {
  const code = codeOf(cause)
  if (isSecuring) {
    return new ExchangeFailure(`TLS with ${host} failed: ${wordsOf(cause)} (${code})`, { retryable: true, cause })
  }
  const what = code === 'ECONNREFUSED' ? 'refused the connection' : `could not be reached (${code})`
  return new ExchangeFailure(`${host} ${what}`, { retryable: true, cause })
}

/** The connection broke while it was used. Whether the server has done what it was asked to is not known. */
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

/** OpenSSL says the same three times over, but its reason once. Of many errors Node makes one without a message. */
function wordsOf(cause: unknown): string {
  const { reason, message } = (cause ?? {}) as { reason?: unknown; message?: unknown }
  if (typeof reason === 'string' && reason !== '') return reason
  return typeof message === 'string' && message !== '' ? message : 'no reason given'
}
