import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ignored } from '../../src/targets/fold.ts'
import { redact } from '../../src/targets/redact.ts'
import { type Reading, readingsOf } from '../../src/targets/secret-encodings.ts'
import { workOf } from '../parts/config/work.ts'

interface Read {
  /** Where which form ended. */
  readonly ended: readonly (readonly [place: number, form: number])[]
  readonly openLength: number
}

/** Reads a text in pieces, sign by sign or past what begins nothing. */
function readBy(how: 'sign' | 'skip', { folding, trie, starts }: Reading, pieces: readonly string[]): Read {
  const fold = folding()
  const ended: [number, number][] = []
  let [node, place] = [0, 0]
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at++) {
      if (how === 'skip' && node === 0) at = fold.skip(piece, at, starts)
      if (at >= piece.length) break
      const sign = fold.sign(piece.charCodeAt(at))
      if (sign === ignored) continue
      node = trie.next(node, sign)
      if (trie.ended(node) !== -1) ended.push([place + at, trie.ended(node)])
    }
    place += piece.length
  }
  return { ended, openLength: trie.openLength(node) }
}

const few = (...signs: string[]) => fc.string({ unit: fc.constantFrom(...signs), minLength: 4, maxLength: 20 })
const values = fc.oneof(few('a', 'b'), few('s', 'k', '-', '7', '\\', 'n'), few('a', 'ö', '字', '\n', ' '))
const breaks = fc.constantFrom('', '\n', ' ', '\r\n  ', '\\n', ':', ', ', '-', '\\', 'ö')

/** What an encoder makes of a secret, with something between every few signs, and often not to its end. */
const writtenOf = (value: string) =>
  fc
    .tuple(
      fc.constantFrom('plain' as const, 'base64' as const, 'hex' as const, 'HEX' as const, 'dump' as const),
      fc.nat(3),
      breaks,
      fc.integer({ min: 1, max: 9 }),
    )
    .chain(([how, before, between, width]) => {
      const bytes = Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from(value)])
      const digits = bytes.toString('hex')
      const forms = { plain: value, base64: bytes.toString('base64'), hex: digits, HEX: digits.toUpperCase() }
      const text = how === 'dump' ? digits : forms[how]
      const broken = (text.match(new RegExp(`[^]{1,${width}}`, 'g')) ?? []).join(between)
      const whole = how === 'dump' ? `\n0000000: ${broken}  |${value}|\n` : broken
      return fc.nat(whole.length).map((length) => (length % 3 === 0 ? whole.slice(0, length) : whole))
    })
const fillings = fc.oneof(
  fc.constantFrom('', ' ', '\n', '\\', '0', 'x', '\n12ab34: ', '\n0000010 6', 'ö', '  '),
  fc.string({ unit: fc.constantFrom('a', 'b', '6', '1', ' ', '\n', '\\', 'n', 'ö'), maxLength: 12 }),
)
const cases = fc.array(values, { minLength: 1, maxLength: 3 }).chain((each) =>
  fc.record({
    secrets: fc.constant(each.map((value, index) => ({ name: `S${index}`, value }))),
    pieces: fc.array(fc.oneof(fillings, ...each.map(writtenOf)), { maxLength: 12 }),
  }),
)

describe('a reader that passes over what begins nothing', () => {
  it('finds what one finds that reads every sign, in whatever pieces the text comes', () => {
    fc.assert(
      fc.property(cases, ({ secrets, pieces }) => {
        for (const reading of readingsOf(secrets)) {
          expect(readBy('skip', reading, pieces)).toEqual(readBy('sign', reading, pieces))
          const whole = [pieces.join('')]
          expect(readBy('skip', reading, whole)).toEqual(readBy('sign', reading, whole))
        }
      }),
      { numRuns: 3_000 },
    )
  })

  const secrets = [
    { name: 'A', value: 'sk-live-4eC39HqLyjWDarjtT1zdp7dc0a1b2c3d' },
    { name: 'B', value: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' },
    { name: 'C', value: 'postgres://app:S3cr3t-pass@db.internal:5432/app' },
    { name: 'D', value: 'Tr0ub4dor&3!' },
    { name: 'E', value: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  ]
  it.each<[string, string]>([
    ['a log', '2026-11-17T05:10:22.123Z [worker-3] GET /api/runs/r-15 200 took 35 ms, lease of nightly kept\n'],
    ['JSON', '{"timestamp":"2026-11-17T05:10:22.123Z","level":"info","event":"run.completed","path":"C:\\\\x"}\n'],
    ['base64', `${Buffer.from('Nothing that anybody would hide, line by line.').toString('base64')}\n`],
    ['another script', '任务已完成，耗时一百二十毫秒，下一次运行在明天凌晨两点。\n'],
    ['blanks', ' '.repeat(90)],
  ])('takes few steps for %s without a secret in it', async (_, line) => {
    const text = line.repeat(500)
    expect(redact(text, secrets)).toBe(text)
    const { calls } = await workOf(async () => redact(text, secrets))
    expect(calls / text.length).toBeLessThan(4)
  })
})
