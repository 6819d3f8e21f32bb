const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})

const headers = [
  header('webhook-id', 'The id of the delivery, the same when it is sent again. Standard Webhooks.'),
  header('webhook-timestamp', 'When it is sent, in seconds; at most five minutes from now. Standard Webhooks.'),
  header('webhook-signature', 'v1, and the HMAC-SHA-256 of id, timestamp and body in Base64. Standard Webhooks.'),
  header('X-GitHub-Delivery', 'The id of the delivery. GitHub.'),
  header('X-GitHub-Event', 'The type of the event. GitHub.'),
  header('X-Hub-Signature-256', 'sha256= and the HMAC-SHA-256 of the body in hex. GitHub.'),
]

const outcomes = ['fired', 'not-matched', 'disabled', 'overlap', 'schedule-gone', 'duplicate', 'ping']

const taking = {
  tags: ['routines'],
  summary: 'Take in a signed event for a routine; the signature authenticates it, and no token is needed.',
  security: [],
  parameters: [
    { name: 'name', in: 'path', required: true, description: 'The name of the routine.', schema: { type: 'string' } },
    ...headers,
  ],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: { description: 'The event: any JSON of at most 256 KB.' } } },
  },
  responses: {
    202: {
      description: 'The event was taken in; its outcome is decided, so do not send it again.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['outcome'],
            additionalProperties: false,
            properties: {
              outcome: { type: 'string', enum: outcomes, description: 'The outcome.' },
              run: { type: 'string', description: 'The run that it created, now or at the first delivery.' },
            },
          },
        },
      },
    },
    400: {
      description: 'The signature is valid, but the body is not JSON, or the delivery has no id.',
      content: problem,
    },
    401: { description: 'The signature is missing or does not match this delivery.', content: problem },
    404: { description: 'There is no such routine, or it takes no webhooks.', content: problem },
    413: { description: 'The payload is larger than a run may have.', content: problem },
    429: { description: 'Too many requests; send it again later.', content: problem },
    503: { description: 'It cannot be taken in now; send it again later.', content: problem },
  },
} as const

/** The webhook route for OpenAPI. */
export const webhookPaths = { '/hooks/{name}': { post: taking } } as const
