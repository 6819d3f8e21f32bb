import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpDoor } from '../../src/doors/http/http-door.ts'
import { routes } from '../../src/routes.ts'
import type { Desk } from '../operations/desk.ts'
import { tokenFor } from './all-doors.ts'
import { desksOf, sizes, strange } from './fuzzing.ts'

interface Place {
  readonly desk: Desk
  readonly door: HttpDoor
  readonly unforeseen: unknown[]
}

const places: Place[] = []

beforeAll(async () => {
  for (const desk of await desksOf('fuzz')) {
    desk.token = await tokenFor(desk)
    const unforeseen: unknown[] = []
    const { context, events } = desk
    const rate = { perSecond: 1e6, burst: 1e6 }
    const door = new HttpDoor({ context, events, version: '1', rate, onUnforeseen: (error) => unforeseen.push(error) })
    places.push({ desk, door, unforeseen })
  }
})
afterAll(async () => {
  for (const { desk, door } of places) {
    door.close()
    await desk.store.close()
  }
})

/** What was refused must have left nothing. */
const allSizes = () => Promise.all(places.map(({ desk }) => sizes(desk)))

async function answers(request: (token: string) => Request): Promise<{ status: number; body: unknown }[]> {
  return Promise.all(
    places.map(async ({ desk, door }) => {
      const response = await door.fetch(request(desk.token))
      return { status: response.status, body: (await response.json()) as unknown }
    }),
  )
}

function isObject(text: string): boolean {
  if (text === '') return true
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const url = 'http://127.0.0.1:4747'
const triesMax = 12

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const { method, path, subject, operation } = route
  const isRead = method === 'GET' || method === 'DELETE'
  const fields = Object.keys(operation.input.shape)

  function requestOf(token: string, about: string, input: Record<string, unknown>): Request {
    const target = new URL(url + path.replace(/\{\w+\}/, () => encodeURIComponent(about)))
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    if (!isRead) return new Request(target, { method, headers, body: JSON.stringify(input) })
    for (const [name, value] of Object.entries(input))
      target.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value))
    return new Request(target, { method, headers })
  }

  it('answers whatever is wrong with a typed refusal, changes nothing, and says the same on both databases', async () => {
    const before = await allSizes()
    const input = fc.record({
      about: fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
        .filter((text) => text.isWellFormed() && text.trim() !== '' && !/^\.{1,2}$/.test(text)),
      field: fc.constantFrom(...fields, 'nonsense'),
      value: strange,
      surplus: fc.constantFrom('surprise', 'constructor', '__proto_', 'ifversion'),
    })
    await fc.assert(
      fc.asyncProperty(input, async ({ about, field, value, surplus }) => {
        const given = { [field === subject ? 'nonsense' : field]: value, [surplus]: 1 }
        const [first, second] = await answers((token) => requestOf(token, about, given))
        expect(first?.status).toBeGreaterThanOrEqual(400)
        expect(first?.status).toBeLessThan(500)
        expect(first?.body).toMatchObject({
          code: expect.any(String),
          detail: expect.any(String),
          status: first?.status,
        })
        expect(second).toEqual(first)
      }),
      { numRuns: triesMax },
    )
    expect(places.flatMap(({ unforeseen }) => unforeseen)).toEqual([])
    expect(await allSizes()).toEqual(before)
  })

  if (isRead) return

  it('refuses what is no JSON object, wherever it breaks', async () => {
    let isAllRefused = true
    const text = JSON.stringify({ ...(operation.examples[0] as object), surprise: 1 })
    const before = await allSizes()
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: text.length - 1 }),
        fc.constantFrom('', '\u0000', '"', '}', '�'),
        async (cut, tail) => {
          const headers = { 'content-type': 'application/json' }
          const target = url + path.replace(/\{\w+\}/, 'r-11')
          const body = text.slice(0, cut) + tail
          const [first, second] = await answers(
            (token) => new Request(target, { method, headers: { ...headers, authorization: `Bearer ${token}` }, body }),
          )
          // What is an object all the same, or nothing at all, is for the verb to judge.
          if (isObject(body)) {
            isAllRefused = false
            expect(first?.status).toBeLessThan(500)
            return
          }
          expect(first?.status, body).toBe(400)
          expect(second).toEqual(first)
        },
      ),
      { numRuns: triesMax },
    )
    if (isAllRefused) expect(await allSizes()).toEqual(before)
  })
})
