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
  await part.opened?.(desk().context)
  const unknown = modelOfCorpus({ corpus: 'nosuch' }, []).opened?.(desk().context)
  await expect(unknown).rejects.toMatchObject({ code: 'not-found', message: expect.stringContaining('nosuch') })
  const problems: Problem[] = []
  modelOfCorpus({ corpus: '' }, problems)
  expect(problems).toMatchObject([{ field: '--corpus' }])
})

async function served() {
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *' })
  await scene.belfry.stop()
  await scene.seed('guide', 'faq')
  const { token } = await scene.belfry.tokens.create('old', { scope: 'operate' })
  const { url } = await scene.belfry.serve({ listen: '127.0.0.1:0' })
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asked = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${url}/corpora/notes/${path}`, asked)
    return [answer.status, await answer.json()] as [number, { detail: string }]
  }
  return { scene, url, ask }
}

it('clients of the original are answered at /corpora/NAME, with a token', async () => {
  const { scene, url, ask } = await served()
  expect((await fetch(`${url}/corpora/notes/status`)).status).toBe(401)
  expect(await ask('GET', 'status')).toMatchObject([
    200,
    {
      items: 2,
      status: 'healthy',
      health: {
        serviceState: 'waiting',
        currentTarget: null,
        schedule: { expression: '0 0 1 1 *', nextAt: expect.any(String) },
        phaseStateSummary: { architect: { pending: 2, fresh: 0 }, critic: { stale: 2 } },
        nextPhase: { path: 'faq', phase: 'architect', band: 3 },
      },
    },
  ])
  expect(await ask('GET', 'metas?pathPrefix=gui')).toMatchObject([
    200,
    { metas: [{ path: 'guide', owedPhase: 'architect' }] },
  ])
  const meta = encodeURIComponent(`${scene.root}/guide/.meta`)
  expect(await ask('PATCH', `metas/${meta}`, { _steer: 'Short.' })).toMatchObject([200, { meta: { _steer: 'Short.' } }])
  expect(await ask('PATCH', `metas/${meta}`, { _steer: null, steer: 'x' })).toMatchObject([400, {}])
  expect(await ask('GET', `metas/${meta}`)).toMatchObject([
    200,
    {
      path: 'guide',
      meta: { _steer: 'Short.' },
      scope: { ownedFiles: 1, childMetas: 0 },
      staleness: { seconds: null },
    },
  ])
  expect(await ask('GET', 'metas/nowhere')).toMatchObject([404, {}])
  expect(await ask('GET', 'preview?path=guide')).toMatchObject([
    200,
    {
      architectWillRun: true,
      architectInvalidators: [],
      scope: { ownedFiles: 1, childMetas: 0 },
      estimatedTokens: { builder: null },
    },
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

it('a field or a filter that a route of the original does not know is refused, and those that it has are heeded', async () => {
  const { ask } = await served()
  const refused: [string, string, object | undefined, RegExp][] = [
    ['POST', 'synthesize', { paht: 'guide' }, /paht/],
    ['POST', 'synthesize?path=guide', {}, /path/],
    ['POST', 'queue/clear', { all: true }, /all/],
    ['POST', 'seed', { path: 'x', glob: '**' }, /glob/],
    ['GET', 'metas?colour=red', undefined, /colour/],
    ['GET', 'metas?hasError=perhaps', undefined, /hasError/],
    ['GET', 'metas?fields=path,mood', undefined, /fields/],
    ['GET', 'metas?staleHours=soon', undefined, /staleHours/],
    ['GET', 'metas?disabled=true&disabled=false', undefined, /disabled is given twice/],
    ['GET', 'metas/guide?colour=red', undefined, /colour/],
    ['GET', 'queue?limit=3', undefined, /limit/],
    ['PATCH', 'metas/guide', { _emphasis: -1 }, /_emphasis/],
    ['PATCH', 'metas/guide', { _content: 'mine' }, /_content/],
  ]
  for (const [method, path, body, message] of refused) {
    const [status, answer] = await ask(method, path, body)
    expect([method, path, status, message.test(answer.detail) || answer]).toEqual([method, path, 400, true])
  }
  expect(await ask('GET', 'metas?fields=path,locked&staleHours=2.5')).toEqual([
    200,
    {
      summary: {
        total: 2,
        stale: 2,
        errors: 0,
        locked: 0,
        disabled: 0,
        neverSynthesized: 2,
        tokens: { architect: 0, builder: 0, critic: 0 },
        stalestPath: 'faq',
        lastSynthesizedPath: null,
        lastSynthesizedAt: null,
      },
      metas: [
        { path: 'faq', locked: false },
        { path: 'guide', locked: false },
      ],
    },
  ])
  expect(await ask('GET', 'metas/guide?includeArchive=2')).toMatchObject([200, { archive: [] }])
})

it('a list of more documents than one page has all of them, and counts them', async () => {
  const scene = await CorpusScene.open({ root: undefined, cron: '0 0 1 1 *' })
  await scene.belfry.stop()
  const paths = Array.from({ length: 1_001 }, (_, at) => `item-${at}`)
  // Each has an emphasis of its own, so that there are too many groups to pick by.
  for (const [at, path] of paths.entries())
    await scene.belfry.corpora.putItem({ name: 'notes', path, emphasis: at / 100 })
  const { checks } = await scene.belfry.store.doctor()
  const { findings = [] } = checks.find(({ check }) => check === 'corpora') ?? {}
  expect(findings.map(({ says }) => says)).toEqual([expect.stringContaining('each pick reads all items')])
  expect((await scene.belfry.corpora.status('notes')).readsAll).toBe(true)
  const { token } = await scene.belfry.tokens.create('old', { scope: 'read' })
  const { url } = await scene.belfry.serve({ listen: '127.0.0.1:0' })
  const answer = await fetch(`${url}/corpora/notes/metas`, { headers: { authorization: `Bearer ${token}` } })
  const { summary, metas } = (await answer.json()) as { summary: object; metas: { path: string }[] }
  expect([summary, metas.map(({ path }) => path).sort()]).toMatchObject([{ total: 1_001 }, paths.sort()])
})
