import { expect, it } from 'vitest'
import { hour, startAt } from '../../store/schedule-stage.ts'
import { onEachTold } from '../explain/stage.ts'

onEachTold('explain a deferred run', (told) => {
  it('tells why and until when, and that nothing of its budget was used', async () => {
    const id = await told().enqueue()
    const until = startAt + hour
    await told().stage.end(await told().stage.leaseOne(), { kind: 'deferred', until, reason: 'the budget is spent' })
    expect(await told().verbs.runs.explain(id)).toMatchObject({
      code: 'not-before',
      sentence: 'It was deferred, which uses no attempt: the budget is spent.',
      unblock: [{ what: 'It may start.', at: until }],
      attempts: [{ outcome: 'deferred', isCounted: false }],
    })
  })
})
