import { describe, expect, it } from 'vitest'
import { shop, tokensIn } from '../../../bench/tokens.mjs'
import { defaultTools } from '../../../src/doors/mcp/tool-sets.ts'
import type { Scope } from '../../../src/operations/caller-scope.ts'
import { scopes } from '../../../src/operations/caller-scope.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { call, factsOf, modelAt } from './model.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
const model = (scope: Scope, tools?: string) =>
  modelAt({ context: async () => desk().context, scope, ...(tools !== undefined && { tools }) })

async function listed(scope: Scope, tools: string) {
  const client = await model(scope, tools)
  return client.listTools()
}

async function twentySchedules(): Promise<void> {
  for (const { name, spec, pause } of shop) {
    await here.schedules.put(name, spec as never)
    if (pause !== null) await here.schedules.pause(name, pause)
  }
}

describe('a model’s budget, in tokens of o200k_base', () => {
  it('tools/list is at most 6,000 by default, at every scope, and at most 15 tools', async () => {
    for (const scope of scopes) {
      const answer = await listed(scope, 'default')
      expect(answer.tools.length).toBeLessThanOrEqual(15)
      expect(tokensIn(JSON.stringify(answer)), scope).toBeLessThanOrEqual(6_000)
    }
    expect((await listed('operate', 'default')).tools.map(({ name }) => name).sort()).toEqual([...defaultTools].sort())
  })

  it('tools/list is at most 20,000 with all tools, at every scope', async () => {
    for (const scope of scopes) {
      expect(tokensIn(JSON.stringify(await listed(scope, 'all'))), scope).toBeLessThanOrEqual(20_000)
    }
  })

  it('the tools with which agents plan for themselves are at most 3,000, at every scope', async () => {
    for (const scope of ['operate', 'admin'] as const) {
      const answer = await listed(scope, 'tasks')
      expect(answer.tools).toHaveLength(8)
      expect(tokensIn(JSON.stringify(answer)), scope).toBeLessThanOrEqual(3_000)
    }
  })

  it('no tool has a schema of its answers, tells a definition twice, or answers the same thing twice', async () => {
    const { tools } = await listed('admin', 'all')
    for (const tool of tools) {
      expect(tool).not.toHaveProperty('outputSchema')
      const { $defs = {} } = tool.inputSchema as { $defs?: Record<string, unknown> }
      for (const name of Object.keys($defs)) {
        const uses = JSON.stringify(tool.inputSchema).split(`#/$defs/${name}"`).length - 1
        expect(uses, `${tool.name} ${name}`).toBeGreaterThan(1)
      }
    }
    await here.schedules.put('a', { every: '1h' })
    const answer = await call(await model('read'), 'schedule_get', { name: 'a' })
    expect(answer.structuredContent).toBeUndefined()
    expect(answer.content).toHaveLength(1)
  })

  it('fields that several tools have in common are explained once, by a tool that is listed beside them', async () => {
    const wordsOf = async (tools: string, name: string) => {
      const found = (await listed('admin', tools)).tools.find((tool) => tool.name === name)
      const properties = (found?.inputSchema.properties ?? {}) as Record<string, { description?: string }>
      return { of: found?.description, cron: properties.cron?.description, own: 'description' in properties }
    }
    const alone = await wordsOf('schedule_update', 'schedule_update')
    expect(alone).toMatchObject({ cron: expect.stringContaining('cron expression'), own: true })
    const beside = await wordsOf('schedule', 'schedule_update')
    expect(beside).toEqual({ of: expect.stringContaining('Fields as in schedule_put.'), cron: undefined, own: true })
    expect(await wordsOf('schedule', 'schedule_put')).toMatchObject({ cron: expect.stringMatching(/\S/) })
  })

  it('schedule_list of 20 schedules is at most 1,500, the fence around what others wrote included', async () => {
    await twentySchedules()
    const client = await model('operate')
    const answer = await call(client, 'schedule_list', { all: true })
    const text = answer.content.map((part) => part.text).join('\n')
    const { items, next } = factsOf(answer) as { items: { name: string }[]; next: { after: string } }
    expect(items).toHaveLength(20)
    expect(text).toContain('<untrusted-')
    expect(tokensIn(text)).toBeLessThanOrEqual(1_500)
    expect(next).toEqual({ after: items.at(-1)?.name })
    expect(factsOf(await call(client, 'schedule_list', { ...next, all: true }))).toEqual([])
    expect(factsOf(await call(client, 'schedule_list', { limit: 21, all: true }))).toHaveLength(20)
    const full = await call(client, 'schedule_list', { detail: 'full' })
    expect(full.content.map((part) => part.text).join('')).toContain('createdAt')
  })
})
