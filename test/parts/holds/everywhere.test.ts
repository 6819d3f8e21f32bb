import { expect, it } from 'vitest'
import { goOn, stopWork } from '../../../src/parts/holds/stop-work.ts'
import { ensureNamespace } from '../../../src/store/open-sql-store.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import type { Step } from '../../../src/store/statement.ts'
import type { StoreContext } from '../../../src/store/store-context.ts'
import { meet } from '../../gate.ts'
import { actor, inEachWard } from '../../operations/store/ward.ts'

const everything = { scope: 'namespace', subject: '', everywhere: true, actor } as const

inEachWard((ward, kind) => {
  const stopping = (pauses?: () => Step<void>) =>
    ward().store.do(function* stopped(context: StoreContext) {
      yield* stopWork(context, { ...everything, note: null, forMs: undefined })
      if (pauses !== undefined) yield* pauses()
    })
  const going = (pauses?: () => Step<void>) =>
    ward().store.do(function* gone(context: StoreContext) {
      yield* goOn(context, everything)
      if (pauses !== undefined) yield* pauses()
    })
  const making = (pauses?: () => Step<void>) =>
    databaseOf(ward().store).write(function* made() {
      yield* ensureNamespace('new')
      if (pauses !== undefined) yield* pauses()
    })
  const stopped = async () => {
    const found = await ward().sql(
      `select n.name from belfry.hold h join belfry.namespace n on n.id = h.ns order by n.name`,
    )
    return found.map(({ name }) => name)
  }

  it('a namespace that is made while all are being stopped is stopped too', async () => {
    await meet(kind, stopping, () => making())
    expect(await stopped()).toEqual(['default', 'new'])
  })

  it('a namespace whose making is under way when all are stopped is stopped too', async () => {
    await meet(kind, making, () => stopping())
    expect(await stopped()).toEqual(['default', 'new'])
  })

  it.each(['made first', 'made second'])(
    'a namespace that is made while all go on is not stopped for good: %s',
    async (order) => {
      await stopping()
      if (order === 'made first') await meet(kind, making, () => going())
      else await meet(kind, going, () => making())
      expect(await stopped()).toEqual([])
    },
  )
})
