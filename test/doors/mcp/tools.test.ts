import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chosenTools, defaultTools, toolSets } from '../../../src/doors/mcp/tool-sets.ts'
import { toolsFor } from '../../../src/doors/mcp/tools.ts'
import { type Scope, scopes } from '../../../src/operations/caller-scope.ts'
import type { Problem } from '../../../src/operations/input/refuse-input.ts'
import { nouns } from '../../../src/table.ts'

function chosen(text: string | undefined, scope: Scope = 'operate') {
  const problems: Problem[] = []
  return { names: [...chosenTools(text, { scope, field: '--tools', problems })], problems }
}

describe('the tools that a person chooses for a model', () => {
  it('are the default set, all, the set of a noun, or names, alone or together', () => {
    expect(chosen(undefined).names).toEqual(defaultTools)
    expect(chosen('routine').names).toEqual(toolSets.routine)
    expect(chosen('default, routine').names).toEqual([...defaultTools, ...(toolSets.routine ?? [])])
    expect(chosen('run_output,sched_plan').names).toEqual(['run_output', 'sched_plan'])
    expect(new Set(chosen('all', 'admin').names)).toEqual(new Set(toolsFor('admin').map(({ name }) => name)))
  })

  it('that do not exist, or that the scope does not reach, are refused by name instead of being left out in silence', () => {
    expect(chosen('run_outpt').problems).toMatchObject([{ field: '--tools', expected: 'run_output' }])
    expect(chosen('default,,x_y_z').problems).toHaveLength(2)
    expect(chosen('queue_set').problems[0]?.problem).toContain('needs the scope admin')
    expect(chosen('queue_set', 'admin').problems).toEqual([])
    expect(chosen('constructor').problems).toHaveLength(1)
  })

  it('a noun that a later part brings is a set of its own: the default is a list of names, each of them a verb', () => {
    for (const noun of Object.keys(nouns)) {
      const own = toolsFor('admin').filter(({ operation }) => operation.noun === noun)
      expect(toolSets[noun] ?? []).toEqual(own.map(({ name }) => name))
    }
    const names = toolsFor('admin').map(({ name }) => name)
    for (const name of defaultTools) expect(names).toContain(name)
    expect(defaultTools.length).toBeLessThanOrEqual(15)
  })
})

describe('the inputs of tools', () => {
  it('offer a model below admin no command, no secret and no way to take work of workers', () => {
    for (const scope of scopes) {
      const text = JSON.stringify(toolsFor(scope).map(({ inputSchema }) => inputSchema))
      // As fields: that a plan can be asked for as if commands were taken gives nobody a command.
      const hasPrograms = /"(command|cwd|env|secret|exitCodes)":|a command\b/.test(text)
      expect(hasPrograms, scope).toBe(scope === 'admin')
    }
    const taking = (scope: Scope) =>
      toolsFor(scope)
        .filter(({ operation }) => operation.effect !== 'read')
        .filter(({ inputSchema }) => 'handlers' in (inputSchema.properties ?? {}))
        .map(({ name }) => name)
    expect(taking('operate')).toEqual([])
    expect(taking('admin')).toEqual(['queue_drain', 'sched_lease'])
  })

  it('have every field that the verb has but the second spelling of a duration, and a sentence for each tool', () => {
    for (const { name, description, inputSchema, operation } of toolsFor('admin')) {
      expect(description, name).toMatch(/^[A-Z].+\.$/)
      const fields = Object.keys(operation.input.shape)
      const once = fields.filter((field) => !(field.endsWith('Ms') && fields.includes(field.slice(0, -2))))
      expect(Object.keys(inputSchema.properties ?? {})).toEqual(expect.arrayContaining(once))
    }
  })
})

it('docs/mcp.md names every tool set, and no other', () => {
  const text = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8')
  const sets = /^A set is (.+?)\. /m.exec(text)?.[1]?.matchAll(/`(\w+)`/g) ?? []
  expect([...sets].map(([, name]) => name).sort()).toEqual(Object.keys(toolSets).sort())
})
