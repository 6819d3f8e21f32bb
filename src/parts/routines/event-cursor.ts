import { parseId } from '../../core/id.ts'
import { eventIds } from './routine-spec.ts'

/** The cursor of a list of events. The instant comes first: two processes on PostgreSQL take their ids from separate blocks. */
export interface RoutineEventCursor {
  readonly at: number
  readonly id: number
}

/** The cursor after an event, as callers receive and return it: `1767603600000/e-15`. */
export function cursorBehind({ at, id }: { readonly at: number; readonly id: string }): string {
  return `${at}/${id}`
}

/** Null for anything else, a bare id included: continuing from that would silently skip events. */
export function routineEventCursorIn(text: string): RoutineEventCursor | null {
  const [, at, name] = /^(\d{1,16})\/(e-[0-9a-z]+)$/.exec(text) ?? []
  const id = parseId(eventIds, name)
  return id === null || !Number.isSafeInteger(Number(at)) ? null : { at: Number(at), id }
}
