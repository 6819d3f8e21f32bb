import type { BelfryError } from '../../core/error.ts'
import { errorCodes } from '../../operations/error-codes.ts'
import { forStrangers, isForeseen } from '../../operations/unforeseen-error.ts'

/** An error with a more exact status than its code has: it is about the request, not about its subject. */
export class HttpProblem extends Error {
  readonly status: number
  readonly error: BelfryError
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, error: BelfryError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message, { cause: error })
    this.status = status
    this.error = error
    this.headers = headers
  }
}

/** Problem details (RFC 9457), with the fields that every door reports. */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: BelfryError['code']
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
}

export function problemResponse(thrown: unknown, basePath: string): Response {
  const { status, error, headers } = asProblem(thrown)
  const { code, message, hint, details } = error
  const body: ProblemDetails = {
    type: `${basePath}/docs#error-${code}`,
    title: errorCodes[code].says,
    status,
    detail: message,
    code,
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
  }
  return Response.json(body, { status, headers: { ...headers, 'content-type': 'application/problem+json' } })
}

function asProblem(thrown: unknown): HttpProblem {
  if (thrown instanceof HttpProblem) return thrown
  const error = forStrangers(thrown)
  const waitMs = error.details?.retryAfterMs
  const headers = typeof waitMs === 'number' ? { 'retry-after': String(Math.ceil(waitMs / 1_000)) } : {}
  return new HttpProblem(errorCodes[error.code].status, error, headers)
}

export function isUnforeseen(thrown: unknown): boolean {
  return !(thrown instanceof HttpProblem) && !isForeseen(thrown)
}
