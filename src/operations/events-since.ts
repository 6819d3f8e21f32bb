import { compareCursors, type EventCursor, type EventPage, type EventView } from '../store/event-view.ts'
import { listEvents } from '../store/reads/list-events.ts'
import type { OperationContext } from './operation-context.ts'

export { compareCursors, type EventCursor, type EventPage, type EventView }

/** What has happened since a place, oldest first; `null` asks where now is. */
export function eventsSince({ store }: OperationContext, place: EventCursor | null, limit: number): Promise<EventPage> {
  return store.look(listEvents, place, limit)
}
