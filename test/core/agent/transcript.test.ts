import { describe, expect, it } from 'vitest'
import { TranscriptReader } from '../../../src/core/agent/transcript.ts'
import { transcriptUtilisation } from '../../../src/core/agent/transcript-verdict.ts'
import type { AgentProfile } from '../../../src/parts/agents/profile-form.ts'
import { fixture, fixtureNames, judged, type Played, shipped } from './fixtures.ts'

const profiles = await shipped()
const profileOf = (name: string) => profiles.get(name.split('-')[0] ?? '') as AgentProfile
const read = (name: string, played?: Played) => judged(profileOf(name), fixture(name), played)
const answer = { kind: 'answered', text: 'The deploy is healthy.' }
const failed = (code: string, why: string | RegExp = /./) => ({ kind: 'failed', code, why: expect.stringMatching(why) })

describe('a good answer', () => {
  it.each(['claude', 'codex', 'gemini', 'opencode'])('of %s is its final message', (agent) => {
    expect(read(`${agent}-success`).verdict).toEqual(answer)
  })

  it('of aider is its text, once it has told its tokens', () => {
    expect(read('aider-success').verdict).toMatchObject({ kind: 'answered' })
    expect(read('aider-cut').verdict).toMatchObject(failed('no-answer'))
  })

  it.each([1, 5, 42, 137])('stands although the program exits with %i', (exitCode) => {
    for (const agent of ['claude', 'codex', 'gemini', 'opencode']) {
      expect(read(`${agent}-success`, { exitCode }).verdict, agent).toEqual(answer)
    }
  })

  it('of a script stands only with exit code 0, for there is nothing else to go by', () => {
    const script = profileOf('script')
    expect(judged(script, 'Hello\n').verdict).toEqual({ kind: 'answered', text: 'Hello\n' })
    expect(judged(script, 'Hello\n', { exitCode: 3 }).verdict).toMatchObject(failed('agent-error', /exit code 3/))
    expect(judged(script, '').verdict).toMatchObject(failed('no-answer'))
    expect(judged(script, ' \n').verdict).toMatchObject(failed('empty-answer'))
  })
})

describe('facts', () => {
  it('are session, model, tokens, cost and turns of claude', () => {
    const { facts, usage } = read('claude-success')
    expect(facts).toMatchObject({ sessionId: 'SESSION', model: 'claude-opus-4-5', turns: 3 })
    const money = { amount: 31_207, currency: 'USD' }
    expect(usage).toEqual({ tokensIn: 1_500, tokensOut: 380, tokensCached: 9_000, money })
  })

  it('count cached tokens of codex and gemini once', () => {
    expect(read('codex-success').usage).toEqual({ tokensIn: 315, tokensOut: 122, tokensCached: 24_448 })
    expect(read('gemini-success').usage).toEqual({ tokensIn: 1_000, tokensOut: 60, tokensCached: 400 })
  })

  it('are added over the steps of opencode', () => {
    const money = { amount: 1_500, currency: 'USD' }
    expect(read('opencode-success').usage).toEqual({ tokensIn: 681, tokensOut: 20, tokensCached: 400, money })
  })

  it('stand in a line of text of aider', () => {
    expect(read('aider-success').usage).toEqual({
      tokensIn: 14_000,
      tokensOut: 1_100,
      money: { amount: 60_000, currency: 'USD' },
    })
  })

  it('are known although the attempt failed, for it was paid', () => {
    expect(read('claude-turns').usage?.money).toEqual({ amount: 31_207, currency: 'USD' })
  })

  it('have a cost by the prices of the model, where the agent tells none', () => {
    const prices = { '*': { in: 3, out: 15, cached: 0.3 } }
    const { usage } = judged({ ...profileOf('codex'), prices, currency: 'EUR' }, fixture('codex-success'))
    expect(usage?.money).toEqual({ amount: Math.round(315 * 3 + 122 * 15 + 24_448 * 0.3), currency: 'EUR' })
  })

  it('are how much of each limit is used, where it is known when that opens anew', () => {
    const { facts } = read('claude-warned')
    expect(facts.utilisation).toEqual({ five_hour: { share: 0.97 }, seven_day: { share: 0.4 } })
    const fiveHours = { window: 'five_hour', share: 0.97, resetAt: 1_900_000_000_000 }
    expect(transcriptUtilisation(facts)).toEqual([fiveHours])
    const text = fixture('claude-warned').replace('"utilization":0.4', '"utilization":0.4,"resetsAt":1900000060')
    expect(transcriptUtilisation(judged(profileOf('claude'), text).facts)).toEqual([
      fiveHours,
      { window: 'seven_day', share: 0.4, resetAt: 1_900_000_060_000 },
    ])
  })
})

describe('a limit', () => {
  it('defers until the instant that a structured event names', () => {
    expect(read('claude-limited').verdict).toEqual({
      kind: 'limited',
      resetAt: 1_900_000_000_000,
      window: 'five_hour',
      hasBegun: true,
    })
  })

  it('without an instant defers too, and says whether anything was done before', () => {
    for (const name of ['claude-refused', 'gemini-exhausted', 'opencode-limited']) {
      expect(read(name).verdict, name).toEqual({ kind: 'limited', resetAt: undefined, hasBegun: false })
    }
  })

  it('counts with exit code 0, with which agents end then', () => {
    expect(read('claude-limited', { exitCode: 0 }).verdict.kind).toBe('limited')
  })

  it('that was only a warning, or was overcome, is none', () => {
    expect(read('claude-warned').verdict).toEqual(answer)
    expect(read('claude-overcome').verdict).toEqual(answer)
  })

  it('in free text never defers: neither a sentence of codex nor an answer that speaks of limits', () => {
    expect(read('codex-limit-sentence', { exitCode: 1 }).verdict).toMatchObject(failed('agent-error', /7:58 PM/))
    expect(read('claude-talks-of-limits').verdict.kind).toBe('answered')
    expect(read('aider-cut').verdict.kind).toBe('failed')
  })
})

describe('no answer, whatever the exit code says,', () => {
  it.each(['claude-cut', 'codex-cut', 'opencode-cut', 'gemini-silent', 'claude-no-result'])('is in %s', (name) => {
    for (const exitCode of [0, 1, null]) expect(read(name, { exitCode }).verdict).toMatchObject(failed('no-answer'))
  })

  it('is in a transcript of which only half of the last line came', () => {
    const text = fixture('claude-success')
    expect(judged(profileOf('claude'), text.slice(0, -100)).verdict).toMatchObject(failed('no-answer'))
  })

  it('is in a message that says nothing', () => {
    expect(read('claude-empty').verdict).toMatchObject(failed('empty-answer'))
  })
})

describe('a failure', () => {
  it('of login or configuration is not retried', () => {
    expect(read('claude-login').verdict).toMatchObject({ ...failed('agent-setup', /403/), retryable: false })
    expect(read('opencode-login').verdict).toMatchObject({ ...failed('agent-setup', /No API key/), retryable: false })
    for (const exitCode of [41, 42, 44, 52]) {
      expect(read('gemini-silent', { exitCode }).verdict, `${exitCode}`).toMatchObject(failed('agent-setup'))
      // Its final message tells of an error, and the exit code of which kind.
      expect(read('gemini-error', { exitCode }).verdict).toMatchObject(failed('agent-setup', /Model not found/))
    }
  })

  it('names the tools that were denied beside a success, each once', () => {
    expect(read('claude-denied').verdict).toMatchObject({
      ...failed('permission-denied', /^Bash, Write$/),
      retryable: false,
    })
    const lenient = { ...profileOf('claude'), denials: 'ignore' } as const
    expect(judged(lenient, fixture('claude-denied')).verdict).toEqual(answer)
  })

  it('by its own limit of turns or money is no limit of the provider', () => {
    expect(read('claude-turns').verdict).toMatchObject(failed('agent-limit', /max_turns/))
    expect(read('claude-budget').verdict).toMatchObject(failed('agent-limit', /max_budget/))
    expect(read('gemini-silent', { exitCode: 53 }).verdict).toMatchObject(failed('agent-limit'))
    expect(read('gemini-error', { exitCode: 53 }).verdict).toMatchObject(failed('agent-limit', /Model not found/))
  })

  it('is an error, also with exit code 0 and with the subtype success', () => {
    expect(read('claude-api-error').verdict).toMatchObject(failed('agent-error', /500/))
    expect(read('gemini-error').verdict).toMatchObject(failed('agent-error', /Model not found/))
    expect(read('opencode-error').verdict).toMatchObject(failed('agent-error', /Internal server error/))
  })

  it('is what the first of the rules finds, where several would fit', () => {
    const claude = profileOf('claude')
    const result = { type: 'result', subtype: 'success', result: 'Sorry.', session_id: 'SESSION' }
    const limit = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_900_000_000 } }
    const whole = {
      ...{ ...result, is_error: true, api_error_status: 403, subtype: 'error_max_turns' },
      permission_denials: [{ tool_name: 'Bash' }],
    }
    const { api_error_status: _, ...allowed } = whole
    const { permission_denials: __, ...undenied } = allowed
    const found = (...lines: object[]) => {
      const { verdict } = judged(claude, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
      return verdict.kind === 'failed' ? verdict.code : verdict.kind
    }
    expect([
      found(limit, whole),
      found(whole),
      found(allowed),
      found(undenied),
      found({ ...undenied, subtype: 'success', result: ' ' }),
      found({ ...result, result: ' ' }),
      found(result),
    ]).toEqual([
      'limited',
      'agent-setup',
      'permission-denied',
      'agent-limit',
      'agent-error',
      'empty-answer',
      'answered',
    ])
  })

  it('of gemini by a tool or by a cancel is an error, as its exit code says', () => {
    for (const exitCode of [1, 54, 130]) {
      expect(read('gemini-error', { exitCode }).verdict, `${exitCode}`).toMatchObject(failed('agent-error'))
    }
    for (const exitCode of [54, 130]) {
      expect(read('gemini-silent', { exitCode }).verdict).toMatchObject(failed('agent-error', RegExp(`${exitCode}`)))
    }
  })

  it('that the agent overcame is none', () => {
    expect(read('codex-reconnects').verdict).toEqual(answer)
  })
})

describe('reading', () => {
  it('does not depend on the pieces in which a transcript comes', () => {
    for (const name of fixtureNames) {
      const whole = read(name)
      for (const step of [1, 7, 1_000]) expect(read(name, { step }), `${name} by ${step}`).toEqual(whole)
    }
  })

  it('gives readable text, and shows what is no JSON as it came', () => {
    expect(read('claude-success').said).toBe('I look at the deploy.\n→ Bash\nThe deploy is healthy.\n')
    expect(read('gemini-success').said).toBe('Let me look.\n→ run_shell_command\nThe deploy is healthy.')
    const { said, verdict } = judged(
      profileOf('claude'),
      `warning: old node\n{"type":"result"\n${fixture('claude-success')}`,
    )
    expect(said).toMatch(/^warning: old node\n\{"type":"result"\nI look/)
    expect(verdict).toEqual(answer)
  })

  it('of one JSON value happens at its end', () => {
    const gemini: AgentProfile = {
      ...profileOf('gemini'),
      stream: 'json',
      read: { final: { at: 'response' }, tokensIn: { at: 'stats.models[*].tokens.prompt' } },
      verdict: { error: { when: { 'error.type': 'ApiError' }, at: 'error.message' } },
    }
    const text = JSON.stringify(
      { response: 'Well.', stats: { models: { a: { tokens: { prompt: 5 } }, b: { tokens: { prompt: 7 } } } } },
      null,
      1,
    )
    expect(judged(gemini, text)).toMatchObject({
      verdict: { kind: 'answered', text: 'Well.' },
      usage: { tokensIn: 12 },
    })
    expect(judged(gemini, text.slice(0, -2)).verdict).toMatchObject(failed('no-answer'))
  })

  it('keeps little of a flood: a line without end, a text without end', () => {
    const claude = new TranscriptReader(profileOf('claude'))
    for (let megabytes = 0; megabytes < 40; megabytes++) claude.add('x'.repeat(1024 ** 2))
    expect(claude.question.length).toBeLessThan(5 * 1024 ** 2)
    claude.add(`\n${fixture('claude-success')}`)
    expect(claude.facts.text).toBe('The deploy is healthy.')
    const script = new TranscriptReader(profileOf('script'))
    for (let megabytes = 0; megabytes < 40; megabytes++) script.add('x'.repeat(1024 ** 2))
    script.end(true)
    expect(script.facts.text?.length).toBeLessThan(1024 ** 2 + 1)
  })

  it('takes less than a second of the processor for 50 MB', () => {
    const [init = '', said = '', tool = '', , last = ''] = fixture('claude-success').split('\n')
    const output = JSON.stringify({ type: 'user', message: { content: 'a line of "assistant" output\n'.repeat(100) } })
    const text = `${[init, said, tool, output, said, tool, output, last].join('\n')}\n`.repeat(400)
    const reader = new TranscriptReader(profileOf('claude'))
    const play = (times: number) => {
      for (let each = 0; each < times; each++)
        for (let at = 0; at < text.length; at += 65_536) reader.add(text.slice(at, at + 65_536))
    }
    play(3)
    const before = process.cpuUsage()
    const times = Math.ceil(50e6 / text.length)
    play(times)
    const { user, system } = process.cpuUsage(before)
    expect((times * text.length) / (user + system)).toBeGreaterThan(50)
  })
})
