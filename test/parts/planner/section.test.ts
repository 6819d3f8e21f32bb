import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfigFile } from '../../../src/parts/config/config-file.ts'
import { programsOf } from '../../../src/parts/config/programs.ts'
import { findPlanner } from '../../../src/parts/planner/planner-row.ts'
import { atDesk, problemsIn, verbsAt } from '../../operations/desk.ts'
import { scriptOf } from './scene.ts'

const desk = atDesk()
const { config, planner, budgets, schedules } = verbsAt(() => desk().context)
const model = { provider: 'openai-compatible', url: 'http://127.0.0.1:11434/v1', model: 'qwen3' }
const apply = (given: unknown, more: object = {}) =>
  config.apply({ source: 'ops', planner: given as Record<string, unknown>, ...more })

describe('the section planner of a config file', () => {
  it('sets what planner set takes, with its budget, and tells what changed', async () => {
    const first = await apply({ ...model, tokensPerMonth: 2_000_000, key: { secret: 'QWEN' }, fields: ['depth'] })
    expect(first).toMatchObject({
      answer: 'applied',
      planner: [{ name: 'openai-compatible qwen3', answer: 'created', changes: [] }],
    })
    expect(await planner.status()).toMatchObject({ model: 'qwen3', tokensPerMonth: 2_000_000 })
    expect(await budgets.list()).toMatchObject([{ name: 'planner', for: 'queue=planner', per: 'month' }])
    const again = { ...model, tokensPerMonth: 2_000_000, key: { secret: 'QWEN' }, fields: ['depth'] }
    expect(await apply(again)).toMatchObject({ answer: 'unchanged' })
    const second = await apply({ ...model, model: 'other', tokensPerMonth: 1_000_000 })
    expect(second.planner?.[0]?.changes).toEqual(
      expect.arrayContaining([
        { field: 'model', before: 'qwen3', after: 'other' },
        { field: 'tokensPerMonth', before: 2_000_000, after: 1_000_000 },
      ]),
    )
    // Without the field there is no limit, and no budget continues to hold the queue.
    await apply(model)
    expect(await budgets.list()).toEqual([])
  })

  it('another model by planner set keeps the token cap, its hold and everything else that is not given', async () => {
    const first = { ...model, tokensPerMonth: 2_000, key: 'QWEN', priceIn: '3USD', priceOut: '15USD' } as const
    await planner.set({ ...first, provider: 'openai-compatible', autonomy: 'act', fields: ['depth'] })
    await planner.set({ model: 'demo2' })
    const spec = async () => (await desk().store.look(findPlanner))?.spec
    expect(await spec()).toMatchObject({
      ...model,
      model: 'demo2',
      key: 'QWEN',
      tokensPerMonth: 2_000,
      autonomy: 'act',
      fields: ['depth'],
      prices: { currency: 'USD' },
    })
    expect(await budgets.list()).toMatchObject([{ name: 'planner', tokens: { limit: 2_000 } }])
    // The address and the key of one provider mean nothing to another, and must not be sent to it.
    await planner.set({ provider: 'scripted', model: 'demo', script: scriptOf([]) })
    expect(await spec()).not.toHaveProperty('key')
    expect(await spec()).toMatchObject({ tokensPerMonth: 2_000, autonomy: 'act' })
    await planner.set({ tokensPerMonth: null })
    expect(await budgets.list()).toEqual([])
    expect(await spec()).toMatchObject({ provider: 'scripted', model: 'demo' })
  })

  it('a first planner needs a provider and a model, and every problem is told', async () => {
    const fields = (await problemsIn(planner.set({ autonomy: 'act' }))).map(({ field }) => field)
    expect(fields).toEqual(['provider', 'model'])
    const nowhere = { provider: 'scripted', model: 'demo', script: '/nowhere.json' } as const
    expect(await problemsIn(planner.set(nowhere))).toMatchObject([{ field: 'script' }])
    const [url] = await problemsIn(planner.set({ ...model, provider: 'openai-compatible', url: 'ftp://x' }))
    expect(url).toMatchObject({ field: 'url', expected: 'an address that begins with http:// or https://' })
  })

  it('is applied with all other sections or not at all', async () => {
    const wrong = { report: { cron: 'x', target: { handler: 'report' } } }
    await expect(apply(model, { schedules: wrong })).rejects.toMatchObject({ code: 'invalid' })
    expect(await planner.status()).toMatchObject({ provider: null })
  })

  it('is changed in its file alone, and stays set when the file drops it', async () => {
    await apply(model)
    const other = { ...model, provider: 'openai-compatible', model: 'mine' } as const
    await expect(planner.set(other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('The config file of source ops manages planner'),
    })
    await expect(config.apply({ source: 'apps', planner: other })).rejects.toMatchObject({ code: 'conflict' })
    const dropped = await config.apply({ source: 'ops' })
    expect(dropped).toMatchObject({ planner: [{ answer: 'left' }], notes: [expect.stringContaining('planner pause')] })
    expect(await planner.set(other)).toMatchObject({ model: 'mine' })
  })

  it('pausing planners is no change of what the file manages', async () => {
    await apply(model)
    await planner.pause()
    expect(await apply(model)).toMatchObject({ answer: 'unchanged' })
    expect((await planner.status()).paused).not.toBeNull()
    expect((await schedules.list()).map(({ name }) => name)).toContain('belfry:looks')
  })

  it.each<[string, unknown, string, string]>([
    ['no model', { provider: 'scripted', script: 's.json' }, 'planner.model', 'is missing'],
    ['an unknown provider', { ...model, provider: 'openai' }, 'planner.provider', 'openai'],
    ['no address', { ...model, url: undefined }, 'planner.url', 'is missing'],
    ['a key in plain text', { ...model, key: 'sk-live-123' }, 'planner.key', 'is no secret by its name'],
    [
      'a key with more than a name',
      { ...model, key: { secret: 'A', b: 1 } },
      'planner.key',
      'is no secret by its name',
    ],
    ['a key that is none', { ...model, key: { secret: 'sk-live-123' } }, 'planner.key', 'is no name of a secret'],
    ['an unknown field', { ...model, temperature: 1 }, 'planner.temperature', ''],
    ['too few tokens', { ...model, tokensPerMonth: 10 }, 'planner.tokensPerMonth', '10'],
    ['one price', { ...model, priceIn: '3USD' }, 'planner.priceOut', 'is not given as priceIn is'],
    ['a list', [model], 'planner', ''],
    ['a text', 'qwen3', 'planner', ''],
  ])('refuses %s with its place, and sets nothing', async (_, given, field, problem) => {
    const problems = await problemsIn(apply(given))
    expect(problems.map((each) => each.field)).toContain(field)
    expect(problems.find((each) => each.field === field)?.problem).toContain(problem)
    expect(JSON.stringify(problems)).not.toContain('sk-live')
    expect(await planner.status()).toMatchObject({ provider: null })
  })

  it('that came with a checkout needs trust: it sends what endpoints answer to an address', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-section-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, '.git'))
    const file = join(folder, 'belfry.yaml')
    const yaml = 'source: ops\nplanner:\n  provider: anthropic\n  model: claude\n  key: { secret: ANTHROPIC }\n'
    writeFileSync(file, yaml)
    const { document } = await readConfigFile(file)
    const { context } = desk()
    expect(programsOf(document, context).programs).toEqual([
      {
        where: 'planner',
        what: 'sends answers of schedules to claude at its provider, with the secret ANTHROPIC',
        with: {},
      },
    ])
    const { document: scripted } = await readConfigFile(await written(join(folder, 'other.yaml')))
    expect(programsOf(scripted, context).programs).toEqual([])
  })
})

async function written(file: string): Promise<string> {
  writeFileSync(file, 'source: ops\nplanner: { provider: scripted, model: demo, script: s.json }\n')
  return file
}
