import { z } from 'zod'

/*
 * What the receivers of notifications document of the messages that they take, as far as we send it, with the pages that say so. The
 * shapes are strict: a field that is not documented, or a text that is too long, is refused here as it would be there.
 */

export interface Receiver {
  readonly sources: readonly string[]
  readonly body: z.ZodType
}

const plainText = (lengthMax: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(lengthMax), emoji: z.boolean() })

const slackBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('header'), text: plainText(150) }),
  z.strictObject({ type: z.literal('section'), text: plainText(3_000) }),
  z.strictObject({
    type: z.literal('rich_text'),
    elements: z.array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('rich_text_preformatted'),
          elements: z.array(z.strictObject({ type: z.literal('text'), text: z.string().min(1).max(3_000) })).length(1),
        }),
        z.strictObject({
          type: z.literal('rich_text_section'),
          elements: z
            .array(z.strictObject({ type: z.literal('link'), url: z.url(), text: z.string().min(1) }))
            .length(1),
        }),
      ]),
    ),
  }),
])

export const slack: Receiver = {
  sources: [
    'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
    'https://docs.slack.dev/messaging/formatting-message-text',
    'https://docs.slack.dev/reference/block-kit/blocks/header-block',
    'https://docs.slack.dev/reference/block-kit/blocks/rich-text-block',
    'https://docs.slack.dev/reference/block-kit/composition-objects/text-object',
  ],
  // The three signs that begin mentions and links are escaped, and nothing else is.
  body: z.strictObject({
    text: z.string().regex(/^(?:[^&<>]|&amp;|&lt;|&gt;)+$/),
    blocks: z.array(slackBlock).min(1).max(50),
  }),
}

const textRun = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string().min(1),
  size: z.enum(['Small', 'Large']).optional(),
  weight: z.literal('Bolder').optional(),
  fontType: z.literal('Monospace').optional(),
})

export const teams: Receiver = {
  sources: [
    'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook',
    'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using',
    'https://learn.microsoft.com/en-us/adaptive-cards/schema-explorer/text-run',
    'https://learn.microsoft.com/en-us/connectors/teams/',
  ],
  // A text run takes no Markdown. A message has 28 KB at most.
  body: z
    .strictObject({
      type: z.literal('message'),
      attachments: z
        .array(
          z.strictObject({
            contentType: z.literal('application/vnd.microsoft.card.adaptive'),
            contentUrl: z.null(),
            content: z.strictObject({
              $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
              type: z.literal('AdaptiveCard'),
              version: z.literal('1.4'),
              body: z.array(z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(textRun).length(1) })),
              actions: z
                .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() }))
                .optional(),
            }),
          }),
        )
        .length(1),
    })
    .refine((message) => Buffer.byteLength(JSON.stringify(message)) <= 28 * 1024, 'over 28 KB'),
}

export const discord: Receiver = {
  sources: [
    'https://docs.discord.com/developers/resources/webhook#execute-webhook',
    'https://docs.discord.com/developers/resources/message#allowed-mentions-object',
  ],
  body: z.strictObject({
    content: z.string().min(1).max(2_000),
    allowed_mentions: z.strictObject({ parse: z.array(z.never()) }),
    flags: z.literal(4),
  }),
}

export const ntfy = {
  sources: ['https://docs.ntfy.sh/publish/', 'https://docs.ntfy.sh/publish/#limitations'],
  messageBytesMax: 4_096,
  titleBytesMax: 1_024,
  headers: z.strictObject({
    'content-type': z.literal('text/plain; charset=utf-8'),
    title: z.string().regex(/^[ -~]+$/),
    priority: z.enum(['max', 'high', 'default', 'low', 'min']),
    tags: z.string(),
    click: z.url().optional(),
  }),
}
