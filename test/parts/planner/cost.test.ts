// biome-ignore-all lint/suspicious/noThenProperty: a rule is data, and its effect no function.
import { expect, it } from 'vitest'
import { formatId } from '../../../src/core/id.ts'
import { type Rule, readRules } from '../../../src/core/rule-form.ts'
import { settle } from '../../../src/store/leases/settle.ts'
import type { StorePart } from '../../../src/store/part.ts'
import type { Row, Step } from '../../../src/store/statement.ts'
import { onEachDatabase, startAt } from '../../store/scene.ts'

/** Runs the same step, and records the names of its statements. */
function* watched<Result>(step: Step<Result>, names: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value) names.push(turn.value.statement.name)
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

onEachDatabase('what rules cost', (scene) => {
  /** The statements of the end of an occurrence, with these parts. */
  async function statements(scheduleId: number, index: number, without?: string): Promise<string[]> {
    const { runId, fence } = await scene().leaseOf(await scene().occurrence(scheduleId, startAt + index))
    const names: string[] = []
    const outcome = { kind: 'success' } as const
    const end = { runId, fence, scheduleId: formatId('schedule', scheduleId), outcome, result: { depth: 300 } }
    await scene().write((context) => {
      const parts = (context.parts as readonly StorePart[]).filter(({ name }) => name !== without)
      return watched(settle({ ...context, parts }, [end]), names)
    })
    return names
  }

  it('a schedule without rules ends its runs with the same statements as without the planner', async () => {
    const scheduleId = await scene().schedule({ timing: { everyMs: 60_000 } })
    const before = await statements(scheduleId, 1, 'planner')
    expect(await statements(scheduleId, 2)).toEqual(before)
    expect(before.length).toBeGreaterThan(3)
  })

  it('rules that do not fit cost one read, and one write where the memory changes', async () => {
    const given = [{ name: 'low', when: { depth: { below: 1 } }, then: { clear: true } }]
    const rules: readonly Rule[] = readRules(given, 'rules', [])
    const plain = await scene().schedule({ timing: { everyMs: 60_000 } })
    const ruled = await scene().schedule({
      name: 'ruled',
      timing: { everyMs: 60_000 },
      rules,
      target: { handler: 'a' },
    })
    const more = (await statements(ruled, 1)).filter((name) => name.startsWith('rules '))
    expect(more).toEqual(['rules find memories', 'rules save memories'])
    expect((await statements(ruled, 2)).length).toBe((await statements(plain, 3)).length + 1)
  })
})
