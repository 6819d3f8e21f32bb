import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { onPorch } from '../../doors/http/porch.ts'
import { githubHeaders, setRoutines, standardHeaders, written } from './stage.ts'

describe.each(['SQLite', 'PostgreSQL'] as const)('whatever is sent where webhooks are sent, on %s,', (database) => {
  const porch = onPorch(database)
  beforeEach(() => setRoutines(porch()))
  const ask = (path: string, text: string, headers: Readonly<Record<string, string>>) =>
    porch().ask(path, { text, headers, as: null })

  const text = fc.oneof(fc.json(), fc.string({ unit: 'binary', maxLength: 200 }), fc.constant('['.repeat(5_000)))
  const word = fc.string({ maxLength: 60 }).map((any) => any.replace(/[^\x21-\x7e]/g, '~'))
  const named = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-hub-signature-256', 'x-github-delivery']
  const headers = fc.dictionary(fc.constantFrom(...named, 'x-github-event', 'content-type'), word, { maxKeys: 5 })

  it('without a signature that is good is refused with a typed answer, and leaves nothing', async () => {
    const before = await written(porch())
    const name = fc.constantFrom('paid', 'pushed', 'unsigned', 'nobody', '%00', 'a%2Fb', '🔔')
    await fc.assert(
      fc.asyncProperty(name, text, headers, async (about, body, given) => {
        const response = await ask(`/hooks/${about}`, body, given)
        expect([400, 401, 404, 415, 429]).toContain(response.status)
        expect(await response.json()).toMatchObject({ status: response.status, code: expect.any(String) })
      }),
      { numRuns: 60 },
    )
    expect(await written(porch())).toEqual(before)
  })

  it('with one is taken or refused, and never goes wrong', async () => {
    const id = fc.oneof(word, fc.constantFrom('a'.repeat(300), '-', '..', '%00'))
    await fc.assert(
      fc.asyncProperty(id, text, fc.dictionary(fc.constant('x-github-event'), word), async (delivery, body, given) => {
        const standard = await ask('/hooks/paid', body, standardHeaders(body, { id: delivery, headers: given }))
        const github = await ask('/hooks/pushed', body, githubHeaders(body, { id: delivery, headers: given }))
        for (const { status } of [standard, github]) expect([202, 400, 401, 415, 429]).toContain(status)
      }),
      { numRuns: 60 },
    )
  })
})
