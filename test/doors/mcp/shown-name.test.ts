import { describe, expect, it } from 'vitest'
import { hiddenAgain, visible } from '../../../src/core/untrusted-text.ts'
import { atDesk, verbsAt } from '../../operations/desk.ts'
import { type Answer, call, factsOf, modelAt } from './model.ts'

const desk = atDesk()
const here = verbsAt(() => desk().context)
const model = () => modelAt({ context: async () => desk().context })

/** The names in a list as a model reads them: what is written out in the fence stays written out. */
function shownNames(answer: Answer): string[] {
  const lines = (answer.content[1]?.text ?? '').split('\n')
  const texts = JSON.parse(lines[2] ?? '{}') as Record<string, string>
  const items = factsOf(answer) as unknown as { name: string }[]
  return items.map(({ name }) => texts[name] ?? name)
}

/** Two of these look alike once the characters of the first are written out. */
const names = ['ig\u200Bnore \u202Ethis', 'ig⟦U+200B⟧nore ⟦U+202E⟧this', 'a ⟦ b', '⟦U+0041⟧', '⟦U+27E6⟧', '\u200Dx']

describe('a name with characters that a reader cannot see', () => {
  it('is named in every call by the form in which a list shows it, and so is one that only looks like it', async () => {
    const client = await model()
    for (const name of names) await here.schedules.put(name, { every: '1h', target: null })
    const shown = shownNames(await call(client, 'schedule_list'))
    expect(shown).toHaveLength(names.length)
    expect(shown).toContain('ig⟦U+200B⟧nore ⟦U+202E⟧this')
    for (const name of shown) {
      for (const tool of ['schedule_pause', 'schedule_resume', 'schedule_explain', 'schedule_run']) {
        const answer = await call(client, tool, { name })
        expect(answer.isError, `${tool} ${name} ${answer.content[0]?.text}`).toBeUndefined()
      }
      const { runs } = factsOf(await call(client, 'run_list', { schedule: name }))
      expect(runs, name).toHaveLength(1)
      const uri = `belfry://schedules/${encodeURIComponent(name)}`
      expect((await client.readResource({ uri })).contents, name).not.toEqual([])
    }
    for (const name of shown) {
      const { confirm } = factsOf(await call(client, 'schedule_delete', { name }))
      expect((await call(client, 'schedule_delete', { name, confirm })).isError, name).toBeUndefined()
    }
    expect(await here.schedules.list()).toEqual([])
  })

  it('is the name of one schedule: putting it as it is shown replaces that schedule', async () => {
    const client = await model()
    await here.schedules.put('x\u200By', { every: '1h', target: null })
    await call(client, 'schedule_put', { name: 'x⟦U+200B⟧y', every: '2h', target: null, queue: 'q⟦U+200B⟧' })
    const schedules = await here.schedules.list()
    expect(schedules).toMatchObject([{ name: 'x\u200By', everyMs: 7_200_000, queue: 'q\u200B' }])
    const run = { target: null, queue: 'q⟦U+200B⟧', payload: { queue: 'q⟦U+200B⟧' } }
    await call(client, 'run_enqueue_many', { runs: [run] })
    const { runs } = await here.runs.list({ queue: 'q\u200B' })
    const [made] = await Promise.all(runs.map(({ id }) => here.runs.get(id)))
    expect(made?.payload, 'a payload means what it says').toEqual({ queue: 'q⟦U+200B⟧' })
  })

  it('is read back only from what Belfry itself writes', () => {
    for (const name of names) expect(hiddenAgain(visible(name))).toBe(name)
    for (const text of ['⟦U+0041⟧', '⟦U+200b⟧', '⟦U+00200B⟧', '⟦U+FFFFFF⟧', '⟦U+20⟧', '⟦200B⟧', '⟦U+200B'])
      expect(hiddenAgain(text)).toBe(text)
    expect(hiddenAgain('⟦U+27E6⟧U+200B⟧')).toBe('⟦U+200B⟧')
  })
})
