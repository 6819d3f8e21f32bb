import { expect, it } from 'vitest'
import { onOneTold } from '../explain/stage.ts'

onOneTold('explain a run whose workers are halted', (told) => {
  it.each([
    ['/srv/.belfry/STOP: Incident 4711', 'Remove the file that stops the workers: `rm /srv/.belfry/STOP`.'],
    ['BELFRY_DISABLED=1', 'Start a worker without BELFRY_DISABLED.'],
  ])('starts nothing because of %s is told what ends that', async (halted, what) => {
    const workerId = await told().worker({ kinds: ['handler'] })
    await told().stage.store.beat([workerId], { can: { kinds: [] }, halted })
    const { sentence, unblock } = await told().verbs.runs.explain(await told().enqueue())
    expect(sentence).toContain(`stopped by ${halted}`)
    expect(unblock).toMatchObject([{ what, command: null }])
  })

  it('starts nothing, and a session that takes messages does not hide that', async () => {
    const workerId = await told().worker({ kinds: ['handler'] })
    await told().stage.store.beat([workerId], { can: { kinds: [] }, halted: '/srv/.belfry/STOP' })
    await told().verbs.sched.lease({ queue: 'default', host: 'a host', limit: 1 })
    const { sentence, unblock } = await told().verbs.runs.explain(await told().enqueue())
    expect(sentence).toContain('stopped by /srv/.belfry/STOP')
    expect(unblock).toMatchObject([{ what: expect.stringContaining('rm /srv/.belfry/STOP') }])
  })
})
