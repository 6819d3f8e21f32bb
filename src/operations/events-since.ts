import { compareCursors, type EventCursor, type EventPage, type EventView } from '../store/event-view.ts'
import { listEvents } from '../store/reads/list-events.ts'
import type { OperationContext } from './operation-context.ts'

export { compareCursors, type EventCursor, type EventPage, type EventView }

/** Events after a cursor, oldest first; `null` returns the current cursor. */
export function eventsSince({ store }: OperationContext, place: EventCursor | null, limit: number): Promise<EventPage> {
  return store.look(listEvents, place, limit)
}
