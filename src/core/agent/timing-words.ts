import { cron } from '../cron/cron.ts'
import { CronError } from '../cron/cron-error.ts'
import { formatDuration } from '../duration.ts'
import type { Timing } from '../timing/timing.ts'

const days: Readonly<Record<string, string>> = { 'Monday to Friday': 'weekdays', 'every day': 'daily' }

/** When a task runs, in a few words for one line: `weekdays 09:00 Europe/Paris`, `every 5m`, `once`. */
export function timingWords(timing: Timing): string {
  const { everyMs, at } = timing
  if (everyMs !== undefined) return `every ${formatDuration(everyMs)}`
  if (at !== undefined) return 'once'
  return timing.cron === undefined ? 'by hand' : calendarWords(timing.cron, timing.zone)
}

function calendarWords(expression: string, zone: string): string {
  try {
    const words = cron(expression, zone).describe()
    const [, time, on = ''] = /^At (\d\d:\d\d), (.+) \([^()]+\)$/.exec(words) ?? []
    if (time !== undefined) return `${days[on] ?? on} ${time} ${zone}`
    return words.replace(/ \([^()]+\)$/, '').replace(/^./, (letter) => letter.toLowerCase())
  } catch (error) {
    // Another process may have written a zone that this one does not know.
    if (!(error instanceof CronError)) throw error
    return `${expression} ${zone}`
  }
}
