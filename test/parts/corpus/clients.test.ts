import { expect, it } from 'vitest'
import type { Problem } from '../../../src/operations/input/refuse-input.ts'
import { modelOfCorpus } from '../../../src/parts/corpus/clients/model-tools.ts'
import { call, modelAt, wholeOf } from '../../doors/mcp/model.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'

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
