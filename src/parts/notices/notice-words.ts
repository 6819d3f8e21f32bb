import { plainText } from '../../operations/schedule/plain-text.ts'
import { events, noticeEvents } from './notice-events.ts'

/** What a notice is about, from the payload of its run. The payload may be anything, so each field is checked. */
export function noticeInWords(payload: unknown): string {
  const { event, schedule, queue, run, about, happened } = (payload ?? {}) as Readonly<Record<string, unknown>>
  if (event === 'held') return 'what was held back in quiet hours'
  const known = noticeEvents.find((one) => one === event)
  const what = known === undefined ? 'something' : events[known].words
  if (typeof about === 'string') return plainText(`${about}: ${typeof happened === 'string' ? happened : what}`)
  const named = typeof schedule === 'string' ? ` of schedule ${schedule}` : ` in queue ${queue}`
  const place = typeof schedule === 'string' || typeof queue === 'string' ? named : ''
  return plainText(`${what}${place}${typeof run === 'string' ? ` (run ${run})` : ''}`)
}
