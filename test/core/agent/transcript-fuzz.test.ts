import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentProfile } from '../../../src/parts/agents/profile-form.ts'
import { fixture, fixtureNames, judged, shipped } from './fixtures.ts'

const profiles = await shipped()
const numRuns = 10_000

const noise = fc.constantFrom(
  '\0',
  '\uFFFD',
  '\n',
  '\r\n',
  '{',
  '}',
  '[',
  '"',
  '\\',
  '{"type":"result"',
  '\uD800',
  '{}',
  'null\n',
  '[]\n',
  '{"__proto__":{"type":"result"}}\n',
)
const change = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), from: fc.nat(), length: fc.nat(300) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(),
    text: fc.oneof(noise, fc.string({ maxLength: 30 })),
  }),
  fc.record({ kind: fc.constant('swap' as const), line: fc.nat(), with: fc.nat() }),
  fc.record({ kind: fc.constant('drop' as const), line: fc.nat() }),
  fc.record({
    kind: fc.constant('twist' as const),
    at: fc.nat(),
    value: fc.constantFrom('null', '-1', '1e400', '"x"', '[]', '{}', 'true', '9007199254740993'),
  }),
  fc.record({ kind: fc.constant('end' as const), at: fc.nat() }),
)
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

function changed(text: string, each: Change): string {
  const lines = text.split('\n')
  const at = (place: number) => place % (text.length + 1)
  switch (each.kind) {
    case 'cut':
      return text.slice(0, at(each.from)) + text.slice(at(each.from) + each.length)
    case 'insert':
      return text.slice(0, at(each.at)) + each.text + text.slice(at(each.at))
    case 'swap': {
      const [one, other] = [each.line % lines.length, each.with % lines.length]
      ;[lines[one], lines[other]] = [lines[other] ?? '', lines[one] ?? '']
      return lines.join('\n')
    }
    case 'drop':
      return lines.filter((_, index) => index !== each.line % lines.length).join('\n')
    case 'twist': {
      const values = [...text.matchAll(/:("[^"\\]*"|\d+|true|false|null)/g)]
      const value = values[each.at % Math.max(1, values.length)]
      if (value === undefined) return text
      return text.slice(0, value.index + 1) + each.value + text.slice(value.index + value[0].length)
    }
    case 'end':
      return text.slice(0, at(each.at))
  }
}

/** Whether a line, read plainly, is the mark of an end with this profile. */
const endings: Readonly<Record<string, (value: Record<string, never>) => boolean>> = {
  claude: (value) => value.type === 'result',
  codex: (value) => value.type === 'turn.completed',
  gemini: (value) => value.type === 'result',
  opencode: (value) => value.type === 'step_finish',
}

function hasEnd(agent: string, text: string): boolean {
  if (agent === 'aider') return /^Tokens: /m.test(text)
  return text.split('\n').some((line) => {
    try {
      const value = JSON.parse(line)
      return typeof value === 'object' && value !== null && endings[agent]?.(value) === true
    } catch {
      return false
    }
  })
}

const structured = /"(rejected|RESOURCE_EXHAUSTED)"|"(api_error_status|code|statusCode)":429/

describe('transcripts that were damaged in any way', () => {
  it('crash nothing, never succeed without a final message, and block nothing by free text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fixtureNames),
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(0, 0, 1, 53, null),
        fc.integer({ min: 1, max: 5_000 }),
        (name, changes, exitCode, step) => {
          const agent = name.split('-')[0] ?? ''
          const text = changes.reduce(changed, fixture(name))
          const { verdict, usage } = judged(profiles.get(agent) as AgentProfile, text, { exitCode, step })
          if (verdict.kind === 'answered') {
            expect(hasEnd(agent, text)).toBe(true)
            expect(verdict.text.trim()).not.toBe('')
          }
          if (verdict.kind === 'limited') expect(text).toMatch(structured)
          for (const count of [usage?.tokensIn, usage?.tokensOut, usage?.tokensCached, usage?.money?.amount]) {
            expect(count === undefined || (Number.isSafeInteger(count) && count >= 0)).toBe(true)
          }
        },
      ),
      { numRuns },
    )
  })
})
