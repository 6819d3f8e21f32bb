import { z } from 'zod'
import type { Target } from '../../core/target.ts'
import type { TargetKind } from '../kind.ts'
import { messageFormats } from '../message.ts'
import { valueForm } from '../secret-schema.ts'
import { type HttpRequest, httpTargetProblems } from './http-target.ts'

const said = 'The request that is sent.'
const request = z.strictObject({
  url: z.string().describe('The absolute URL of the request.'),
  method: z.string().describe('The method, in capitals. Default: POST with a body, else GET.').optional(),
  headers: z.record(z.string(), valueForm).describe('The headers of the request.').optional(),
  body: z
    .unknown()
    .describe('Text is sent as it is, everything else as JSON. Default: the payload, if the method has a body.')
    .optional(),
  keepBytes: z.int().describe('Bytes of the answer to keep, 1024 to 10485760. Default: 102400.').optional(),
  sign: z
    .strictObject({
      secret: z.string().describe('The secret that signs it.'),
      previous: z.string().describe('The secret that it replaces; both sign.').optional(),
    })
    .describe('Sign the request with a secret. Default: unsigned.')
    .optional(),
})
const format = z
  .enum(messageFormats)
  .describe('The form in which the receiver takes the message, in place of a body. Default: json.')
  .optional()

/** Requests to HTTP endpoints. */
export const httpKind: TargetKind = {
  name: 'http',
  called: 'an HTTP request',
  form: z.strictObject({ http: request.describe(said) }),
  problems: (target) => httpTargetProblems(target),
  words(target) {
    const { url, method, body } = requestOf(target)
    return `${method ?? (body === undefined ? 'GET' : 'POST')} ${url}`
  },
  flags: [
    { flag: '--http', value: '<url>', field: 'http.url', says: 'A request to this URL.' },
    {
      flag: '--method',
      value: '<method>',
      field: 'http.method',
      says: 'The method of the request. Default: POST with a body, else GET.',
    },
    {
      flag: '--header',
      value: '<Name: value>',
      field: 'http.headers',
      reads: 'pair',
      says: 'A header of the request; may be repeated.',
    },
    {
      flag: '--header-secret',
      value: '<Name: SECRET>',
      field: 'http.headers',
      reads: 'secret',
      says: 'A header with the value of a secret; may be repeated.',
    },
    {
      flag: '--body',
      value: '<text>',
      field: 'http.body',
      reads: 'file',
      says: 'The body of the request: a text, @FILE, or - for stdin.',
    },
    {
      flag: '--keep-bytes',
      value: '<n>',
      field: 'http.keepBytes',
      reads: 'number',
      says: 'How many bytes of the answer are kept. Default: 102400.',
    },
    {
      flag: '--sign',
      value: '<SECRET>',
      field: 'http.sign.secret',
      says: 'Sign the request with this secret.',
    },
    {
      flag: '--sign-previous',
      value: '<SECRET>',
      field: 'http.sign.previous',
      says: 'The secret that --sign replaces; both sign.',
    },
  ],
  timeoutMs: 30_000,
  timeoutRangeMs: { min: 1_000, max: 1_800_000 },
  receiverOf: (target) => requestOf(target).url,
  message: {
    form: z.strictObject({ http: request.extend({ format }).describe(said) }),
    problems: (target) => httpTargetProblems(target, { isMessage: true }),
    // A message needs a method with a body.
    resolved: (target) =>
      requestOf(target).method === undefined ? { ...target, http: { ...requestOf(target), method: 'POST' } } : target,
  },
  reportsUsage: 'in-answer',
  gives: ['status'],
  async executor({ secrets, network, messageOf }) {
    const { httpExecutor } = await import('./http-executor.ts')
    return httpExecutor({ network, secrets, messageOf })
  },
}

function requestOf({ http }: Target): HttpRequest {
  return (http ?? {}) as HttpRequest
}
