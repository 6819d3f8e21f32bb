import { parseId } from './id.ts'

/** Versions whose lists went by id gave other places. To go on from one of those would pass over runs and say nothing. */
export const runCursorExpected =
  'the `next` of a page with the same filter; if an earlier version gave it, begin again at the first page'

/** Whether a text is a place in a list of runs at all. Which list it is of is known when that list is read. */
export function isRunCursor(text: string): boolean {
  const [, id] = /^(?:(?:made|waiting)\/\d{1,16}|-?\d{1,16}(?:\/\d{1,16})?)\/([^/]+)$/.exec(text) ?? []
  return id !== undefined && parseId('run', id) !== null
}
