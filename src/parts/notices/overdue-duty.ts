import type { Duty } from '../../engine/part.ts'
import type { Store } from '../../store/port.ts'
import { noticeOverdue } from './notice-overdue.ts'

/** Live runs of schedules that one step looks at, and the steps of one round before other duties have a turn. */
const stepLimit = 500
const stepsMax = 20

/** Where the next round continues. */
const places = new WeakMap<Store, string>()

/** Looks for overdue work and for trouble that has ended, at every heartbeat of one worker. */
export const overdueDuty: Duty = {
  name: 'notices',
  everyMs: 0,
  async tick({ store }) {
    for (let step = 0; step < stepsMax; step++) {
      const from = places.get(store)
      const { next } = await store.do(noticeOverdue, { limit: stepLimit, ...(from !== undefined && { from }) })
      places.delete(store)
      if (next === null) return
      places.set(store, next)
    }
  },
}
