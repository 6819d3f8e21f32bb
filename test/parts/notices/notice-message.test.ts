import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastLines, type SentNotice, sentNotice } from '../../../src/parts/notices/notice.ts'
import { noticeEvents } from '../../../src/parts/notices/notice-events.ts'
import { noticeMessage } from '../../../src/parts/notices/notice-message.ts'
import { type MessageFormat, messageFormats } from '../../../src/targets/message.ts'
import { discord, ntfy, slack, teams } from './message-forms.ts'

const notice: SentNotice = {
  event: 'failure',
  at: '2026-01-05T09:00:03.000Z',
  namespace: 'default',
  schedule: 'nightly',
  queue: 'default',
  run: 'r-25k',
  attempt: 3,
  reason: 'exit code 1 (attempt 3/3)',
  failuresInARow: 2,
  suppressed: 4,
  output: 'copying…\ndisk full',
  test: false,
  link: 'https://belfry.example.org/api/runs/r-25k',
}

const plain = `Schedule nightly failed
Reason: exit code 1 (attempt 3/3)
Run: r-25k, attempt 3
Queue: default
Failures in a row: 2
Notifications suppressed since the last one: 4
At: 2026-01-05T09:00:03.000Z
https://belfry.example.org/api/runs/r-25k

Last lines of output:
copying…
disk full`

function bodyOf(format: MessageFormat, given: Partial<SentNotice> = {}): unknown {
  const { body } = noticeMessage(format, { ...notice, ...given })
  return format === 'text' || format === 'ntfy' ? body : JSON.parse(body)
}

describe('a notification fits its receiver', () => {
  it('as plain text it says all that is known', () => {
    expect(noticeMessage('text', notice)).toEqual({
      body: plain,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    })
  })

  it('as JSON it is the notice, its output and its link', () => {
    expect(bodyOf('json')).toEqual(notice)
  })

  it(`as Slack documents it (${slack.sources[0]})`, () => {
    const message = slack.body.parse(bodyOf('slack')) as { text: string; blocks: { type: string }[] }
    expect(message.text).toBe('Schedule nightly failed')
    expect(message.blocks.map(({ type }) => type)).toEqual(['header', 'section', 'rich_text', 'rich_text'])
    expect(JSON.stringify(message)).toContain('disk full')
    const silent = slack.body.parse(bodyOf('slack', { output: null, link: null })) as typeof message
    expect(silent.blocks.map(({ type }) => type)).toEqual(['header', 'section'])
  })

  it(`as Teams documents it (${teams.sources[0]})`, () => {
    const message = teams.body.parse(bodyOf('teams')) as { attachments: { content: { actions?: unknown } }[] }
    expect(message.attachments[0]?.content.actions).toEqual([
      { type: 'Action.OpenUrl', title: 'Open in Belfry', url: notice.link },
    ])
    expect(JSON.stringify(message)).toContain('disk full')
  })

  it(`as Discord documents it (${discord.sources[0]})`, () => {
    const { content } = discord.body.parse(bodyOf('discord')) as { content: string }
    expect(content).toMatch(/^\*\*Schedule nightly failed\*\*\n<https:.*r-25k>\n```\nReason: exit code 1/)
    expect(content).toMatch(/copying…\ndisk full\n```$/)
  })

  it(`as ntfy documents it (${ntfy.sources[0]})`, () => {
    const { body, headers } = noticeMessage('ntfy', notice)
    expect(ntfy.headers.parse(headers)).toMatchObject({
      title: 'Schedule nightly failed',
      priority: 'high',
      click: notice.link,
    })
    expect(body).toContain('Reason: exit code 1')
    expect(body).toMatch(/disk full$/)
    const { headers: umlauts } = noticeMessage('ntfy', { ...notice, schedule: 'nächtlich', event: 'recover' })
    const title = /^=\?UTF-8\?B\?(.+)\?=$/.exec(umlauts.title ?? '')?.[1] ?? ''
    expect(Buffer.from(title, 'base64').toString()).toBe('Schedule nächtlich works again')
    expect(ntfy.headers.parse(umlauts)).toMatchObject({ priority: 'default' })
  })

  it('however long its texts are, the newest lines stay and the limit is kept', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\n', '`', '"', '\\', '<', '&', 'é', '😀', ' '),
      maxLength: 4_000,
    })
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
    const arbitrary = fc.record({
      event: fc.constantFrom(...noticeEvents),
      schedule: fc.option(name, { nil: null }),
      queue: name,
      namespace: name,
      reason: fc.string({ unit: 'binary', maxLength: 500 }),
      output: fc.option(text, { nil: null }),
    })
    fc.assert(
      fc.property(arbitrary, (given) => {
        slack.body.parse(bodyOf('slack', given))
        teams.body.parse(bodyOf('teams', given))
        discord.body.parse(bodyOf('discord', given))
        const { body, headers } = noticeMessage('ntfy', { ...notice, ...given })
        ntfy.headers.parse(headers)
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(ntfy.messageBytesMax)
        expect(Buffer.byteLength(headers.title ?? '')).toBeLessThanOrEqual(ntfy.titleBytesMax)
      }),
      { numRuns: 300 },
    )
    const output = `${'x'.repeat(3_900)}\nthe last line`
    for (const format of ['slack', 'discord', 'ntfy'] as const) {
      expect(noticeMessage(format, { ...notice, output }).body, format).toContain('the last line')
    }
  })

  it.each(['n', '漢', '_', '`', '😀'])('names of 200 %s leave no message over the limit of its receiver', (sign) => {
    const name = sign.repeat(200)
    const { link: _, ...stored } = { ...notice, schedule: name, queue: name, namespace: name }
    const reason = sign.repeat(500)
    for (const [run, output] of [
      ['r-25k', sign.repeat(2_000)],
      [null, null],
      [null, 'the last line'],
    ] as const) {
      const given = sentNotice({ ...stored, run, reason, output }, 'https://belfry.example.org')
      slack.body.parse(bodyOf('slack', given))
      teams.body.parse(bodyOf('teams', given))
      const { content } = discord.body.parse(bodyOf('discord', given)) as { content: string }
      expect(content.split('```')).toHaveLength(3)
      // A link is whole or missing, and that to a run always has room.
      expect(content.split('\n')[1]).toBe(run === null && sign !== 'n' && sign !== '_' ? '```' : `<${given.link}>`)
      const { body, headers } = noticeMessage('ntfy', given)
      ntfy.headers.parse(headers)
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(ntfy.messageBytesMax)
    }
  })
})

describe('output and reason cannot ping anybody', () => {
  const hostile = '@everyone @here <!channel> <@U1> <@&1> </a:1> [x](https://evil.example) **b**\n```\n@everyone'

  it('in Slack: mentions are escaped in the text, and blocks read no markup', () => {
    const given = { schedule: '<!channel> & co', reason: hostile, output: hostile }
    const message = slack.body.parse(bodyOf('slack', given)) as { text: string }
    expect(message.text).toBe('Schedule &lt;!channel&gt; &amp; co failed')
    expect(JSON.stringify(message)).not.toContain('mrkdwn')
  })

  it('in Discord: no mention is allowed, and no text leaves its code block', () => {
    const given = { schedule: '@everyone **x**', reason: hostile, output: hostile }
    const { content } = discord.body.parse(bodyOf('discord', given)) as { content: string }
    expect(content.split('\n')[0]).toBe('**Schedule \\@everyone \\*\\*x\\*\\* failed**')
    expect(content.split('```')).toHaveLength(3)
    expect(content.endsWith('\n```')).toBe(true)
  })

  it.each([3, 4, 5, 6, 7, 50])('in Discord: %i backticks in a row do not end the code block', (count) => {
    const output = `hi\n${'`'.repeat(count)}\n[click me](https://evil.example)`
    const { content } = discord.body.parse(bodyOf('discord', { reason: '`'.repeat(count), output })) as {
      content: string
    }
    expect(content.split('```')).toHaveLength(3)
    expect(content.endsWith('(https://evil.example)\n```')).toBe(true)
  })

  it('in Teams: text runs take no Markdown, and nobody is an entity', () => {
    const message = JSON.stringify(
      teams.body.parse(bodyOf('teams', { reason: hostile, output: `<at>all</at> ${hostile}` })),
    )
    expect(message).not.toMatch(/"TextBlock"|"msteams"|"entities"/)
  })

  it.each(messageFormats.filter((format) => format !== 'json'))(
    'in %s: what steers a terminal or hides is left out',
    (format) => {
      const output = 'red \u001b[31malert\u001b[0m \u001b]0;title\u0007\u202egnp.exe\u200b\u0000\r\nend'
      const { body } = noticeMessage(format, { ...notice, output, reason: 'a\u0000b\nc\u202e' })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
      expect(body).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e\u200b]|\\u0000|\\u001b/)
      expect(body).toContain('red alert gnp.exe')
      expect(body).toContain('ab c')
    },
  )
})

describe('what a notice has of an output', () => {
  it('is its last 20 lines, and no more than every receiver can show', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`)
    expect(lastLines(`${lines.join('\n')}\n\n`)).toBe(lines.slice(-20).join('\n'))
    expect(lastLines('\n \n')).toBeNull()
    expect(lastLines('')).toBeNull()
    expect(lastLines('x'.repeat(5_000))).toHaveLength(4_000)
  })

  it('does not hold up the store for an output with a long stretch of blanks in it', () => {
    // A pattern that looks for the blanks at the end begins anew at each of these, which takes a minute.
    const blanks = ' '.repeat(250_000)
    expect(lastLines(`a${blanks}b`)).toBe(`${' '.repeat(3_999)}b`)
    expect(noticeMessage('text', { ...notice, output: `a${blanks}b` }).body).toMatch(/ b$/)
  }, 20_000)

  it('comes with a link to its run or schedule where a public address is set', () => {
    const { link: _, ...stored } = notice
    expect(sentNotice(stored, undefined).link).toBeNull()
    expect(sentNotice(stored, 'https://b.example/').link).toBe('https://b.example/api/runs/r-25k')
    const overdue = { ...stored, run: null, schedule: 'a/b' }
    expect(sentNotice(overdue, 'https://b.example/x').link).toBe('https://b.example/x/api/schedules/a%2Fb')
    expect(sentNotice({ ...overdue, schedule: null }, 'https://b.example').link).toBeNull()
  })
})
