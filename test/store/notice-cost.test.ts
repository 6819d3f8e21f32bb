import { expect, it } from 'vitest'
import { formatId } from '../../src/core/id.ts'
import { setNotify } from '../../src/store/set-notify.ts'
import { settle } from '../../src/store/settle.ts'
import type { Row, Step } from '../../src/store/statement.ts'
import { actor, onEachDatabase, startAt } from './scene.ts'

const http = { http: { url: 'https://example.org/' } }

/** The same step, with the names of its statements noted as it goes. */
function* watched<Result>(step: Step<Result>, names: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value) names.push(turn.value.statement.name)
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

onEachDatabase('what notices cost', (scene) => {
  const everything = { onFailure: http, onPark: http, onRecover: http, onOverdue: http }

  /** The statements about notices that the end of a run takes. */
  async function statements(
    scheduleId: number | null,
    outcome: 'success' | 'failed',
    index: number,
  ): Promise<string[]> {
    const at = startAt + index
    const id = scheduleId === null ? await scene().enqueue() : await scene().occurrence(scheduleId, at)
    const { runId, fence } = await scene().leaseOf(id)
    const names: string[] = []
    const end = {
      runId,
      fence,
      scheduleId: scheduleId === null ? null : formatId('schedule', scheduleId),
      outcome:
        outcome === 'success'
          ? ({ kind: 'success' } as const)
          : ({ kind: 'failed', reason: 'x', retryable: false } as const),
    }
    await scene().write((context) => watched(settle(context, [end]), names))
    return names.filter((name) => /notice|queue|need|run insert/.test(name))
  }

  it('is nothing where a run ends well, whoever wants to know what', async () => {
    const scheduleId = await scene().schedule({ timing: {}, notify: everything })
    await scene().setQueue('default', { notify: everything })
    await scene().write((context) => setNotify(context, everything, { actor }))
    expect(await statements(null, 'success', 1)).toEqual([])
    expect(await statements(scheduleId, 'success', 2)).toEqual([])
  })

  it('is one look where it does not, and nobody wants to know', async () => {
    const scheduleId = await scene().schedule()
    expect(await statements(null, 'failed', 1)).toEqual(['notice find places'])
    expect(await statements(scheduleId, 'failed', 2)).toEqual(['notice find places'])
  })
})
