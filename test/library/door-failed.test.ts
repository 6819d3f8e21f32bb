import { expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../src/index.ts'

it('why a webhook cannot be judged is told to whoever listens, and not to whoever sends', async () => {
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  onTestFinished(() => belfry.close())
  const told: string[] = []
  belfry.on('door.failed', ({ error }) => void told.push(error.message))
  await belfry.routines.create('r', {
    run: { target: null },
    signing: { style: 'github', secret: { secret: 'NOT_THERE' } },
  })
  const headers = { 'x-hub-signature-256': 'sha256=00', 'x-github-delivery': 'd' }
  const sent = new Request('http://127.0.0.1/hooks/r', { method: 'POST', headers, body: '{}' })
  const answer = await (await belfry.handler())(sent)
  expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining('NOT_THERE')])
  expect(told).toEqual([expect.stringContaining('NOT_THERE')])
})
