import { expect, it } from 'vitest'
import { accountsNow } from '../../../../src/parts/admission/accounts/account-row.ts'
import { accounts } from '../../../../src/parts/admission/accounts/part.ts'
import { putAccount } from '../../../../src/parts/admission/accounts/write-account.ts'
import { TestClock } from '../../../../src/testing/test-clock.ts'
import { actor, deferred, settleDown, stage } from '../../../engine/stage.ts'

it('a worker that is told to stop while it reserves gives the slot back with the run', async () => {
  const gate = deferred()
  const slow = { name: 'slow', begins: async () => gate.promise.then(() => ({ go: true as const })) }
  const here = await stage({ clock: new TestClock(), parts: [accounts, slow] })
  here.handle('work', () => undefined)
  await here.store.do(putAccount, 'max', { maxConcurrent: 1 }, { actor })
  await here.engine.start()
  await here.enqueue({ target: { handler: 'work' }, options: { account: ['max'] } })
  const used = async () => (await here.store.look(accountsNow)).byName.get('max')?.used
  while ((await used()) !== 1) await settleDown()
  const stopped = here.engine.stop({ graceMs: 60_000 })
  await settleDown()
  gate.resolve()
  await stopped
  expect(await used()).toBe(0)
  expect(here.of('run.started')).toEqual([])
})
