import { describe, expect, it } from 'vitest'
import { kinds } from '../../../src/kinds.ts'
import type { ScheduleDefinition } from '../../../src/operations/schedule/schedule-answer.ts'
import { scheduleInWords } from '../../../src/operations/schedule/schedule-in-words.ts'

const handler = { handler: 'report' }
const minuteMs = 60_000
const at = Date.UTC(2026, 11, 1, 8)

function said(definition: Omit<ScheduleDefinition, 'name'>): string {
  return scheduleInWords({ name: 'report', ...definition }, kinds)
}

describe('a schedule in words', () => {
  it.each<[string, Omit<ScheduleDefinition, 'name'>]>([
    ['At 02:00, every day (Europe/Paris).', { cron: '0 2 * * *', zone: 'Europe/Paris' }],
    ['Every 10s, counted from the end of the run before.', { everyMs: 10_000 }],
    ['Every 10s, counted from the end of the run before, the first at once.', { everyMs: 10_000, startNow: true }],
    ['Every 1h30m, on a grid that begins with the schedule.', { everyMs: 90 * minuteMs, from: 'start' }],
    ['Every 5m, on a grid that begins at 2026-12-01T08:00Z.', { everyMs: 5 * minuteMs, from: 'start', startAt: at }],
    ['Once, at 2026-12-01T08:00Z.', { at }],
    ['Once, at 2026-12-01T08:00:30Z.', { at: at + 30_000 }],
    ['No timing of its own: it runs by a hint or by hand.', {}],
  ])('says when it runs: %s', (words, timing) => {
    expect(said({ ...timing, target: handler })).toBe(`${words} Handler report.`)
  })

  it.each<[string, Omit<ScheduleDefinition, 'name'>]>([
    ['Not before 2026-12-01T08:00Z.', { startAt: at }],
    ['Not after 2026-12-01T08:00Z, at most 3 runs.', { endAt: at, maxRuns: 3 }],
    ['At most 1 run.', { maxRuns: 1 }],
    ['At least 1m between two runs, at most 1h between two runs.', { minMs: minuteMs, maxMs: 60 * minuteMs }],
    ['Runs may overlap.', { overlap: 'allow' }],
    ['The next run cancels a run that has not ended.', { overlap: 'cancel' }],
    ['While a run has not ended, at most 1 may wait.', { overlap: 'queue' }],
    ['While a run has not ended, at most 7 may wait.', { overlap: 'queue', queueMax: 7 }],
    ['Missed occurrences are skipped.', { missed: 'skip' }],
    ['Missed occurrences are run once, at most 5m late.', { maxLatenessMs: 5 * minuteMs }],
    [
      'While a run has not ended, at most 100 may wait. The newest 100 missed occurrences are run, at most 1h late.',
      { missed: 'all', maxLatenessMs: 60 * minuteMs },
    ],
    ['Paused after 3 failures in a row.', { pauseAfterFailures: 3 }],
  ])('says what was chosen otherwise than by default: %s', (words, chosen) => {
    const rest = { everyMs: minuteMs, target: handler }
    expect(said({ ...rest, ...chosen })).toBe(
      `Every 1m, counted from the end of the run before. ${words} Handler report.`,
    )
  })

  it.each<[string, Omit<ScheduleDefinition, 'name'>]>([
    ['In queue "mail", with priority 5, under the key "k".', { queue: 'mail', priority: 5, concurrencyKey: 'k' }],
    ['An attempt may take 10m, its response is checked.', { timeoutMs: 10 * minuteMs, expect: { statuses: [200] } }],
    ['Not repeated when its effect is unknown.', { repeatable: false }],
  ])('says where and how its runs are executed: %s', (words, chosen) => {
    expect(said({ at, target: handler, ...chosen })).toBe(`Once, at 2026-12-01T08:00Z. Handler report. ${words}`)
  })

  it('says nothing of what is as it is by default, though somebody wrote it down', () => {
    const written = { overlap: 'skip', missed: 'once', queue: 'default', priority: 100, repeatable: true } as const
    expect(said({ at, target: handler, ...written })).toBe('Once, at 2026-12-01T08:00Z. Handler report.')
  })

  it.each<[string, ScheduleDefinition['target']]>([
    ['Runs /srv/backup.sh --full in /srv.', { command: ['/srv/backup.sh', '--full'], cwd: '/srv' }],
    [String.raw`Runs echo 'two words' '' 'it'\''s'.`, { command: ['echo', 'two words', '', "it's"] }],
    ['Runs mail-out --all | tee log by sh -c.', { command: 'mail-out --all | tee log' }],
    ['GET https://example.org/health.', { http: { url: 'https://example.org/health' } }],
    ['POST https://example.org/.', { http: { url: 'https://example.org/', body: { a: 1 } } }],
    ['PUT https://example.org/.', { http: { url: 'https://example.org/', method: 'PUT' } }],
    ['No target: outside hosts lease its runs.', undefined],
    ['No target: outside hosts lease its runs.', null],
  ])('says what it does: %s', (words, target) => {
    expect(said({ at, target })).toBe(`Once, at 2026-12-01T08:00Z. ${words}`)
  })

  it('names a secret and never shows what may hold one: environment, headers and body', () => {
    const env = { TOKEN: 'hunter2' }
    const words = said({ at, target: { command: ['send', '--as', { secret: 'MAIL' }], env } })
    const headers = { authorization: 'Bearer hunter2' }
    const sent = said({ at, target: { http: { url: 'https://example.org/', headers, body: 'hunter2' } } })
    expect(words).toContain('Runs send --as {secret MAIL}.')
    expect(`${words} ${sent}`).not.toContain('hunter2')
  })

  it('cannot be made to write over a terminal, nor to hide itself in its own length', () => {
    const words = said({ at, queue: 'a\u202eb', target: { command: ['echo', '\u001b[2J\n', 'x'.repeat(5_000)] } })
    expect(words).toContain(String.raw`'\u{1b}[2J\u{a}' xxx`)
    expect(words).toContain(String.raw`In queue "a\u{202e}b".`)
    expect(words.length).toBeLessThan(500)
  })

  it('is told even where the zone that another process wrote is not known here', () => {
    expect(said({ cron: '0 2 * * *', zone: 'Mars/Olympus', target: handler })).toBe(
      'At the instants of the cron "0 2 * * *" (Mars/Olympus), which this machine cannot read. Handler report.',
    )
  })
})
