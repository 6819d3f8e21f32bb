import { expect, it } from 'vitest'
import { onOneTold } from '../explain/stage.ts'

onOneTold('explain a run whose workers are halted', (told) => {
  it.each([
    ['/srv/.belfry/STOP: Incident 4711', 'Remove the file that stops the workers.'],
    ['BELFRY_DISABLED=1', 'Start a worker without BELFRY_DISABLED.'],
  ])('starts nothing because of %s is told what ends that', async (halted, what) => {
    const workerId = await told().worker({ kinds: ['handler'] })
    await told().stage.store.beat([workerId], { can: { kinds: [] }, halted })
    const { sentence, unblock } = await told().verbs.runs.explain(await told().enqueue())
    expect(sentence).toContain(`stopped by ${halted}`)
    expect(unblock).toMatchObject([{ what, command: null }])
  })
})
