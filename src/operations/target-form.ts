import { z } from 'zod'
import { noticeFormats } from '../core/notice-message.ts'
import { noted } from './note.ts'

export const secretForm = noted(
  z
    .strictObject({ secret: z.string().describe('The name of the secret.') })
    .describe('A secret by its name; it is read when it is needed, and never stored.'),
  { id: 'Secret' },
)
const value = z.union([z.string(), secretForm])

const handlerForm = z.strictObject({ handler: z.string().min(1).describe('The name of a handler in a worker.') })

const commandForm = z.strictObject({
  command: z
    .union([z.string().min(1), z.tuple([z.string().min(1)], value)])
    .describe('A program and its arguments, or one line for sh -c.'),
  cwd: z.string().min(1).describe('The folder it runs in. Default: the folder of the worker.').optional(),
  env: z.record(z.string(), value).describe('What its environment has besides.').optional(),
})

const requestForm = z
  .strictObject({
    url: z.string().describe('Where the request goes: an absolute URL.'),
    method: z.string().describe('The method, in capitals. Default: POST with a body, else GET.').optional(),
    headers: z.record(z.string(), value).describe('The headers of the request.').optional(),
    body: z
      .unknown()
      .describe('A text is sent as it is, everything else as its JSON. Default: the payload, where a body is due.')
      .optional(),
  })
  .describe('The request that is sent.')

const httpForm = z.strictObject({ http: requestForm })

const noticeHttpForm = z.strictObject({
  http: requestForm
    .extend({
      format: z
        .enum(noticeFormats)
        .describe('The form in which the receiver takes the notification, in place of a body. Default: json.')
        .optional(),
    })
    .describe('The request that is sent.'),
})

/**
 * The forms of a target, for those who read schemas. What is wrong with a target is told by its own kind
 * (`target-input.ts`), which says it better than a choice between three forms could; a test compares the two.
 */
export const targetForm = noted(z.union([handlerForm, commandForm, httpForm]).describe('What a run does.'), {
  id: 'Target',
})

/** The forms of what tells somebody something; a handler is code of one program, which may be what is broken. */
export const noticeTargetForm = noted(
  z.union([commandForm, noticeHttpForm]).describe('What tells somebody: it is handed the notice as its payload.'),
  { id: 'NoticeTarget' },
)

/** A target as it is stored and answered. */
export const targetStored = noted(z.record(z.string(), z.unknown()), { form: targetForm }).describe(
  'What the run does, relative paths resolved.',
)
