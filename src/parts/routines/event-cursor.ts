import { parseId } from '../../core/id.ts'
import { eventIds } from './routine-spec.ts'

/** Where a list of events goes on. The instant comes first: two processes on PostgreSQL take their ids from blocks of their own. */
export interface RoutineEventCursor {
  readonly at: number
  readonly id: number
}

/** The place behind an event, as a caller is told it and hands it back: `1767603600000/e-15`. */
export function cursorBehind({ at, id }: { readonly at: number; readonly id: string }): string {
  return `${at}/${id}`
}

/** Null for all that is no such place, an id alone included: to go on from one would pass over events and say nothing. */
export function routineEventCursorIn(text: string): RoutineEventCursor | null {
  const [, at, name] = /^(\d{1,16})\/(e-[0-9a-z]+)$/.exec(text) ?? []
  const id = parseId(eventIds, name)
  return id === null || !Number.isSafeInteger(Number(at)) ? null : { at: Number(at), id }
}
