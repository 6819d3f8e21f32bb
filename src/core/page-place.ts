import { parseId } from './id.ts'
import { noticeEvents } from './notice.ts'

/** Versions whose lists went by id gave other places. To go on from one of those would pass over runs and say nothing. */
export const runPlaceExpected =
  'the `next` of a page with the same filter; if an earlier version gave it, begin again at the first page'

/** Whether a text is a place in a list of runs at all. Which list it is of is known when that list is read. */
export function isRunPlace(text: string): boolean {
  const [, id] = /^(?:(?:made|waiting)\/\d{1,16}|-?\d{1,16}(?:\/\d{1,16})?)\/([^/]+)$/.exec(text) ?? []
  return id !== undefined && parseId('run', id) !== null
}

/** The place of a notice in the list: when it was told last, what it is about, and of which event. */
export type NoticePlace = readonly [lastAt: number, subject: string, subjectId: number, event: string]

export const noticePlaceExpected = 'the `next` of the page before'

const noticePattern = new RegExp(`^(-?\\d{1,16})\\.(queue|schedule)\\.(\\d{1,16})\\.(${noticeEvents.join('|')})$`)

export function noticePlaceIn(text: string): NoticePlace | null {
  const [, lastAt, subject = '', subjectId, event = ''] = noticePattern.exec(text) ?? []
  const place: NoticePlace = [Number(lastAt), subject, Number(subjectId), event]
  return Number.isSafeInteger(place[0]) && Number.isSafeInteger(place[2]) ? place : null
}
