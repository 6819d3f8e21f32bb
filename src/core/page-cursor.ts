import { parseId } from './id.ts'

/** Older versions listed by id and had other cursors. Such a cursor would skip runs silently. */
export const runCursorExpected =
  'the `next` of a page with the same filter; begin again at the first page if an earlier version of Belfry gave it'

/** Whether a text is a cursor of a list of runs at all. The list itself checks whether the cursor is its own. */
export function isRunCursor(text: string): boolean {
  const [, id] = /^(?:(?:made|waiting)\/\d{1,16}|-?\d{1,16}(?:\/\d{1,16})?)\/([^/]+)$/.exec(text) ?? []
  return id !== undefined && parseId('run', id) !== null
}
