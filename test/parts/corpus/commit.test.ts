import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { orderPhase } from '../../../src/parts/corpus/phases/phase-run.ts'
import { reclaim } from '../../../src/store/leases/reclaim.ts'
import { settle } from '../../../src/store/leases/settle.ts'
import { onEachDatabase } from '../../store/scene.ts'
import { attempted, begun, success } from './begun.ts'

onEachDatabase('the commit of a phase', (scene) => {
  it('writes nothing before its fence is checked, and is repeated without a second revision when its transaction is not committed', async () => {
    const { end, document, item } = await begun(scene())
    expect(document()).not.toHaveProperty('_builder')
    const [late] = await scene().write((context) => settle(context, [{ ...end, fence: end.fence + 1 }]))
    expect([late?.answer, document()._builder]).toEqual(['lease-lost', undefined])
    const crash = scene().write(function* (context) {
      yield* settle(context, [end])
      throw new Error('the power is gone')
    })
    await expect(crash).rejects.toThrow('the power is gone')
    expect(document()).toMatchObject({ _builder: 'the plan', _revision: 1 })
    expect((await item())?.status).toBe('running')
    const [settled] = await scene().write((context) => settle(context, [end]))
    expect(settled).toMatchObject({ answer: 'written', status: 'completed' })
    expect(document()).toMatchObject({
      _builder: 'the plan',
      _revision: 1,
      _commit: { run: end.runId, fence: end.fence },
    })
    expect(await item()).toMatchObject({ status: 'pending', phase: 'builder', attempts: 0, runId: null })
  })

  it('that was renamed before its worker died is booked once by the next look, and costs no attempt', async () => {
    const { effect, document, item, look } = await begun(scene())
    effect.take(success)
    const copy = join(effect.begun?.corpus.spec.root as string, 'a/.meta/.meta.json.copy.tmp')
    writeFileSync(copy, '{"half a snap')
    scene().clock.now += 86_400_000
    await scene().write((context) => reclaim(context, { limit: 10 }))
    expect(await item()).toMatchObject({ status: 'failed', phase: 'architect', attempts: 1, runId: null })
    await look()
    expect(await item()).toMatchObject({ status: 'pending', phase: 'builder', attempts: 0, revision: 1 })
    expect(document()._revision).toBe(1)
    expect(existsSync(copy)).toBe(false)
  })

  it('that fails after a run was lost has its own error in the index and in every list, not that of the lost run', async () => {
    const { corpus, item, look } = await begun(scene())
    scene().clock.now += 86_400_000
    await scene().write((context) => reclaim(context, { limit: 10 }))
    expect((await item())?.facts.error?.message).not.toContain('no view')
    await scene().write((context) => orderPhase(context, corpus, { path: 'a', mode: 'trigger' }))
    const failed = { kind: 'failed', code: 'FAILED', message: 'no view of the plan' } as const
    const { lease, effect } = await attempted(scene(), corpus, () => failed)
    const outcome = { kind: 'failed', reason: failed.message } as const
    await scene().write((context) => settle(context, [{ ...lease, outcome, effect }]))
    for (let looks = 0; looks < 2; looks += 1) {
      expect(await item()).toMatchObject({
        status: 'failed',
        attempts: 2,
        facts: { error: { message: failed.message } },
      })
      await look()
    }
  })

  it('keeps an edit that came between, and refuses nothing of it', async () => {
    const { end, edit, document } = await begun(scene())
    edit({ owner: 'me', _steer: 'mine' })
    await scene().write((context) => settle(context, [end]))
    expect(document()).toMatchObject({ owner: 'me', _steer: 'mine', _builder: 'the plan' })
  })

  it('of a document that was deleted or torn meanwhile fails the phase, and writes nothing', async () => {
    const { end, item } = await begun(scene())
    const { root } = end.effect.begun?.corpus.spec ?? {}
    writeFileSync(join(root as string, 'a/.meta/meta.json'), '{"torn')
    await scene().write((context) => settle(context, [end]))
    expect(readFileSync(join(root as string, 'a/.meta/meta.json'), 'utf8')).toBe('{"torn')
    expect(await item()).toMatchObject({ attempts: 1, runId: null })
  })
})
