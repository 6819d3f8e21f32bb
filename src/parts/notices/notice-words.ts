import { plainText } from '../../operations/schedule/plain-text.ts'
import { type NoticeEvent, noticeEvents } from './notice.ts'

const words: Readonly<Record<NoticeEvent, string>> = {
  failure: 'a failure',
  park: 'a parked run',
  recover: 'a recovery',
  overdue: 'something overdue',
}

/** Of what a notice tells, by the payload of its run, of which nothing is taken for granted. */
export function noticeInWords(payload: unknown): string {
  const { event, schedule, queue, run } = (payload ?? {}) as Readonly<Record<string, unknown>>
  if (event === 'held') return 'what was held back in quiet hours'
  const known = noticeEvents.find((one) => one === event)
  const what = known === undefined ? 'something' : words[known]
  const named = typeof schedule === 'string' ? ` of schedule ${schedule}` : ` in queue ${queue}`
  const place = typeof schedule === 'string' || typeof queue === 'string' ? named : ''
  return plainText(`${what}${place}${typeof run === 'string' ? ` (run ${run})` : ''}`)
}
