import { expect, it } from 'vitest'
import { converse, type ModelStep, type PlannerModel } from '../../../src/parts/planner/looks/converse.ts'
import type { LookFacts } from '../../../src/parts/planner/looks/look-facts.ts'
import { asSent, LookSession } from '../../../src/parts/planner/looks/look-session.ts'

const response = {
  responseBody: `{"note":"${'x'.repeat(980)}"}`,
  timestamp: '2026-01-05T09:00:00.000Z',
  status: 'success',
  durationMs: 1,
  httpStatus: 200,
} as const
const facts = { responses: Array.from({ length: 12 }, () => response), siblingResponses: [] } as unknown as LookFacts
const prompt = { system: 'rules', user: 'facts', hash: '' }
const { signal } = new AbortController()
const done = async () => ({ answer: 'done', clamped: null, outranked: false }) as const

/** A look by a model that answers with these steps, again and again. */
async function look(steps: readonly Omit<ModelStep, 'text'>[]) {
  const session = new LookSession(facts, done)
  const asked: unknown[][] = []
  const kept: number[] = []
  const model: PlannerModel = {
    provider: 'test',
    name: 'test',
    async step({ turns, forced }) {
      asked.push([...turns, forced])
      return { ...(steps[(asked.length - 1) % steps.length] as ModelStep), text: '' }
    },
  }
  const keeps = async () => void kept.push(session.calls.length)
  const conversation = await converse(model, session, { prompt, signal, used: () => undefined, keeps })
  return { session, asked, kept, conversation }
}

const call = (tool: string, args: object = {}) => ({ id: tool, tool, args })
const submit = { calls: [call('submit_analysis', { reasoning: 'ok' })], usage: {} }

it('what a look has done is kept before the model is asked again: a killed worker leaves what its planner changed', async () => {
  const { kept } = await look([{ calls: [call('propose_interval', { intervalMs: 30_000 })], usage: {} }, submit])
  expect(kept).toEqual([0, 1, 1, 2])
})

it('a model that reports no usage has no look without end: what it reads and says is estimated', async () => {
  const { session, asked, conversation } = await look([
    { calls: [call('get_response_history', { limit: 10 })], usage: {} },
  ])
  // Ten bodies of 1,000 characters are about 2,600 tokens, and each step sends all that came before.
  expect(asked.length).toBeLessThan(8)
  expect(asked.at(-1)?.at(-1)).toBe('submit_analysis')
  expect(session.warnings).toContain('tokens_exceeded')
  expect(conversation.usage).toEqual({})
})

it('of very many calls in a step those that are answered are repeated to the model, and no others', async () => {
  const many = Array.from({ length: 50 }, () => call('get_latest_response'))
  const { asked } = await look([{ calls: many, usage: { tokensIn: 1 } }, submit])
  expect(asked[1]).toMatchObject([
    { role: 'user' },
    { role: 'model', calls: many.slice(0, 20) },
    { role: 'tools', results: many.slice(0, 20) },
    null,
  ])
})

it('a result that was stored cut is shown again as it was sent', async () => {
  const session = new LookSession(facts, done)
  const { result } = await session.call('get_response_history', { limit: 10 })
  await session.call('propose_interval', { intervalMs: 'soon' })
  const [read, wrong] = session.calls
  if (read === undefined || wrong === undefined) throw new Error('two calls are kept')
  expect(read.result).toHaveProperty('cut')
  expect(asSent(read, facts)).toEqual({ ...read, result })
  expect(asSent(wrong, facts)).toBe(wrong)
})
