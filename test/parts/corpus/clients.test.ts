import { expect, it } from 'vitest'
import type { Problem } from '../../../src/operations/input/refuse-input.ts'
import { modelOfCorpus } from '../../../src/parts/corpus/clients/model-tools.ts'
import { call, modelAt, wholeOf } from '../../doors/mcp/model.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { CorpusScene } from './scene.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)

it('belfry mcp --corpus offers the eight tools of one corpus, which a model cannot leave', async () => {
  for (const name of ['faq', 'other']) {
    await here.corpora.create({ name, target: { handler: 'write' } })
    await here.corpora.putItem({ name, path: `${name}/a`, sources: { ticket: 'How long?' } })
  }
  const part = modelOfCorpus({ corpus: 'faq' }, [])
  const client = await modelAt({
    context: async () => desk().context,
    scope: 'operate',
    tools: (part.tools ?? []).join(','),
    beside: [part],
  })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).sort()).toEqual([...(part.tools ?? [])].sort())
  for (const { inputSchema } of tools) {
    expect(inputSchema.properties).not.toHaveProperty('name')
    expect(inputSchema.properties).not.toHaveProperty('corpus')
  }
  expect(wholeOf(await call(client, 'meta_list', { corpus: 'other' }))).toMatchObject({ items: [{ path: 'faq/a' }] })
  expect(wholeOf(await call(client, 'meta_update', { path: 'faq/a', steer: 'Shorter.' }))).toMatchObject({
    item: { path: 'faq/a' },
  })
  expect(wholeOf(await call(client, 'meta_trigger', { path: 'faq/a' }))).toMatchObject({ status: 'queued' })
  expect(wholeOf(await call(client, 'meta_queue', {}))).toMatchObject({ overrides: [{ path: 'faq/a' }] })
  const problems: Problem[] = []
  modelOfCorpus({ corpus: '' }, problems)
  expect(problems).toMatchObject([{ field: '--corpus' }])
})

it('clients of the original are answered at /corpora/NAME, with a token', async () => {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' })
  await scene.belfry.stop()
  await scene.seed('guide', 'faq')
  const { token } = await scene.belfry.tokens.create('old', { scope: 'operate' })
  const { url } = await scene.belfry.serve({ listen: '127.0.0.1:0' })
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asked = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${url}/corpora/notes/${path}`, asked)
    return [answer.status, await answer.json()]
  }
  expect((await fetch(`${url}/corpora/notes/status`)).status).toBe(401)
  expect(await ask('GET', 'status')).toMatchObject([200, { items: 2 }])
  expect(await ask('GET', 'metas?pathPrefix=gui')).toMatchObject([
    200,
    { metas: [{ path: 'guide', owedPhase: 'architect' }] },
  ])
  const meta = encodeURIComponent(`${scene.root}/guide/.meta`)
  expect(await ask('PATCH', `metas/${meta}`, { _steer: 'Short.' })).toMatchObject([200, { meta: { _steer: 'Short.' } }])
  expect(await ask('PATCH', `metas/${meta}`, { _steer: null, steer: 'x' })).toMatchObject([400, {}])
  expect(await ask('GET', `metas/${meta}`)).toMatchObject([200, { path: 'guide', meta: { _steer: 'Short.' } }])
  expect(await ask('GET', 'metas/nowhere')).toMatchObject([404, {}])
  expect(await ask('GET', 'preview?path=guide')).toMatchObject([
    200,
    { architectWillRun: true, scope: { ownedFiles: 1 } },
  ])
  expect(await ask('POST', 'synthesize', { path: 'guide' })).toMatchObject([
    202,
    { status: 'queued', alreadyQueued: false },
  ])
  expect(await ask('POST', 'synthesize', { path: 'guide' })).toMatchObject([202, { alreadyQueued: true }])
  const [, queue] = await ask('GET', 'queue')
  expect(queue).toMatchObject({ current: null, overrides: [{ path: 'guide' }], state: { depth: 1 } })
  expect(await ask('POST', 'synthesize/abort')).toEqual([200, { status: 'idle' }])
  expect(await ask('POST', 'queue/clear')).toEqual([200, { cleared: 1 }])
  expect(await ask('POST', 'seed', { path: 'new' })).toMatchObject([201, { status: 'created', metaDir: 'new/.meta' }])
  expect(await ask('POST', 'seed', { path: 'new' })).toMatchObject([409, {}])
})
