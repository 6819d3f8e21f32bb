import { formatDuration } from '../../core/duration.ts'
import type { MessageFormat, WriteMessage, WrittenMessage } from '../../targets/message.ts'
import { type Notice, type SentNotice, sentNotice } from './notice.ts'
import { events, type NoticeEvent } from './notice-events.ts'

/** The limit of a Slack text object, and so of each text in our blocks. */
const slackTextLengthMax = 3_000
/** The limit of a Slack header block. */
const slackHeaderLengthMax = 150
const discordContentLengthMax = 2_000
/** Facts of usual length fit; with the longest title they leave room for the link to a run. */
const discordFactsLengthMax = 1_200
const ntfyMessageBytesMax = 4_096
const titleLengthMax = 200

const jsonHeaders = { 'content-type': 'application/json' }
const textHeaders = { 'content-type': 'text/plain; charset=utf-8' }

/** Events after which a person has nothing to do. */
export const goodEvents: ReadonlySet<NoticeEvent> = new Set(['recover', 'complete'])

/** Writes the notice that is the payload of a run. */
export const writeNotice: WriteMessage = (payload, publicUrl) => {
  const sent = sentNotice(payload as Notice, publicUrl)
  return { json: sent, written: (format) => noticeMessage(format, sent) }
}

/**
 * Formats a notification for its receiver. Reason and output are untrusted text: they go where the receiver shows plain text, or
 * are escaped, so that they cannot mention people, make links or break out of their place.
 */
export function noticeMessage(format: MessageFormat, notice: SentNotice): WrittenMessage {
  switch (format) {
    case 'json':
      return { body: JSON.stringify(notice), headers: jsonHeaders }
    case 'text':
      return { body: plainMessage(notice), headers: textHeaders }
    case 'slack':
      return { body: JSON.stringify(slackMessage(notice)), headers: jsonHeaders }
    case 'teams':
      return { body: JSON.stringify(teamsMessage(notice)), headers: jsonHeaders }
    case 'discord':
      return { body: JSON.stringify(discordMessage(notice)), headers: jsonHeaders }
    case 'ntfy':
      return ntfyMessage(notice)
  }
}

/** The event in one line: "Schedule nightly failed". */
function titleOf({ event, happened, test, suppressed, ...of }: SentNotice): string {
  if (event === 'held') return `Notifications held in quiet hours: ${suppressed}`
  const what = oneLine(happened ?? events[event].happened)
  return shortened(`${test ? 'Test: ' : ''}${oneLine(subjectOf(of))} ${what}`, titleLengthMax)
}

function subjectOf({ about, schedule, queue, run }: Pick<SentNotice, 'about' | 'schedule' | 'queue' | 'run'>): string {
  if (about !== undefined) return `${about.slice(0, 1).toUpperCase()}${about.slice(1)}`
  return schedule === null ? `Run ${run ?? ''} of queue ${queue}` : `Schedule ${schedule}`
}

/** The known facts, one per line. */
function factsOf({
  event,
  at,
  namespace,
  queue,
  run,
  attempt,
  reason,
  failuresInARow,
  suppressed,
  cost,
  durationMs,
}: SentNotice): string[] {
  const ofRun = run === null ? [] : [`Run: ${run}${attempt === null ? '' : `, attempt ${attempt}`}`]
  return [
    ...(event === 'complete' ? [] : [`Reason: ${oneLine(reason)}`]),
    ...ofRun,
    ...(durationMs == null ? [] : [`Took: ${formatDuration(durationMs)}`]),
    ...(cost == null ? [] : [`Cost: ${cost}`]),
    ...(queue === null ? [] : [`Queue: ${oneLine(queue)}`]),
    ...(namespace === 'default' ? [] : [`Namespace: ${oneLine(namespace)}`]),
    ...((failuresInARow ?? 0) > 0 ? [`Failures in a row: ${failuresInARow}`] : []),
    ...(suppressed > 0 && event !== 'held' ? [`Notifications suppressed since the last one: ${suppressed}`] : []),
    `At: ${at}`,
  ]
}

function outputOf({ output, answer, question }: SentNotice): string | null {
  const text = visible(question ?? answer ?? output ?? '')
    .replace(/^\n+/, '')
    .trimEnd()
  return text === '' ? null : text
}

function calledIn({ question, answer }: SentNotice): string {
  if (question !== undefined) return 'Question'
  return answer == null ? 'Last lines of output' : 'Answer'
}

function plainMessage(notice: SentNotice, bytesMax?: number, hasTitle = true): string {
  const head = [...(hasTitle ? [titleOf(notice)] : []), ...factsOf(notice)].join('\n')
  const output = outputOf(notice)
  const link = notice.link === null || !hasTitle ? '' : `\n${notice.link}`
  const before = output === null ? '' : `\n\n${calledIn(notice)}:\n`
  const fixed = head + link + before
  if (output === null) return bytesMax === undefined ? fixed : cutToBytes(fixed, bytesMax)
  if (bytesMax === undefined) return `${fixed}${output}`
  const room = bytesMax - Buffer.byteLength(fixed)
  return cutToBytes(`${fixed}${lastPart(output, (text) => Buffer.byteLength(text) <= room)}`, bytesMax)
}

/** Blocks of plain and preformatted text, in which Slack reads no markup; `text` is what notifications show. */
function slackMessage(notice: SentNotice): unknown {
  const title = titleOf(notice)
  const output = outputOf(notice)
  const plain = (text: string, lengthMax: number) => ({
    type: 'plain_text',
    text: shortened(text, lengthMax),
    emoji: false,
  })
  const preformatted = (text: string) => {
    const fitting = lastPart(text, (part) => part.length <= slackTextLengthMax)
    return { type: 'rich_text_preformatted', elements: [{ type: 'text', text: fitting }] }
  }
  const link = (url: string) => ({
    type: 'rich_text_section',
    elements: [{ type: 'link', url, text: 'Open in Belfry' }],
  })
  return {
    text: slackEscaped(title),
    blocks: [
      { type: 'header', text: plain(title, slackHeaderLengthMax) },
      { type: 'section', text: plain(factsOf(notice).join('\n'), slackTextLengthMax) },
      ...(output === null ? [] : [{ type: 'rich_text', elements: [preformatted(output)] }]),
      ...(notice.link === null ? [] : [{ type: 'rich_text', elements: [link(notice.link)] }]),
    ],
  }
}

/** A text run of an Adaptive Card shows plain text; a text block would read Markdown in it. */
function teamsMessage(notice: SentNotice): unknown {
  const block = (text: string, style: object) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...style }],
  })
  const output = outputOf(notice)
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block(titleOf(notice), { size: 'Large', weight: 'Bolder' }),
      ...factsOf(notice).map((fact) => block(fact, {})),
      ...(output === null ? [] : [block(output, { fontType: 'Monospace', size: 'Small' })]),
    ],
    ...(notice.link !== null && {
      actions: [{ type: 'Action.OpenUrl', title: 'Open in Belfry', url: notice.link }],
    }),
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }],
  }
}

/** Only links that we write ourselves get a preview of their page. */
const discordSuppressEmbeds = 1 << 2

/**
 * The facts and the output are in a code block; mentions are disabled. Discord refuses a message that is too long, so a link that
 * does not fit is left out: half a link does not work.
 */
function discordMessage(notice: SentNotice): unknown {
  const output = outputOf(notice)
  const title = `**${discordEscaped(titleOf(notice))}**`
  const facts = shortened(inCodeBlock(factsOf(notice).join('\n')), discordFactsLengthMax)
  const before = output === null ? '' : '\n\n'
  const content = (link: string, rest: string) => `${title}${link}\n\`\`\`\n${facts}${before}${rest}\n\`\`\``
  const fullLink = notice.link === null ? '' : `\n<${notice.link}>`
  const link = content(fullLink, '').length <= discordContentLengthMax ? fullLink : ''
  const room = discordContentLengthMax - content(link, '').length
  const rest = output === null ? '' : lastPart(inCodeBlock(output), (text) => text.length <= room)
  return {
    content: content(link, rest),
    allowed_mentions: { parse: [] },
    flags: discordSuppressEmbeds,
  }
}

/** The title, the priority and the link are headers; the body is the message. */
function ntfyMessage(notice: SentNotice): WrittenMessage {
  const isGood = notice.event !== 'held' && goodEvents.has(notice.event)
  return {
    body: plainMessage(notice, ntfyMessageBytesMax, false),
    headers: {
      ...textHeaders,
      title: headerText(titleOf(notice)),
      priority: isGood ? 'default' : 'high',
      tags: isGood ? 'white_check_mark' : 'rotating_light',
      ...(notice.link !== null && { click: notice.link }),
    },
  }
}

/** Encodes non-ASCII characters as in RFC 2047, which ntfy reads. */
function headerText(text: string): string {
  return /^[ -~]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** Escapes the characters that begin a mention or a link in Slack. */
function slackEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Escapes Discord's Markdown and the beginnings of mentions. */
function discordEscaped(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()<@:+-]/g, '\\$&')
}

/** Three backticks in a row end the block, so a zero-width character goes between any two. */
function inCodeBlock(text: string): string {
  return text.replace(/`(?=`)/g, '`\u200b')
}

/** Removes what terminals obey and readers do not see: colours, cursor moves, direction marks. */
function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(ansi, '')
    .replaceAll('\r\n', '\n')
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, '')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are steered by exactly these.
const ansi = /\u001b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g

function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim()
}

function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The last lines that fit, or the end of the last line where not even that fits. */
function lastPart(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text
  const lines = text.split('\n')
  while (lines.length > 1) {
    lines.shift()
    const part = `…\n${lines.join('\n')}`
    if (fits(part)) return part
  }
  let line = lines[0] ?? ''
  while (line !== '' && !fits(`…${line}`))
    line = line.slice(Math.ceil(line.length / 10)).replace(/^[\udc00-\udfff]/, '')
  return line === '' ? '' : `…${line}`
}

function cutToBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  return bytes
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
}
