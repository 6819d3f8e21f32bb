import { expect, it } from 'vitest'
import { atDesk, problemsIn, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { store, schedules, groups } = verbsAt(() => desk().context)
const url = 'http://127.0.0.1:3000/queue'

const file = {
  jobs: [
    {
      id: 'job_1',
      name: 'checkout: sales',
      description: 'Protect the database first.',
      status: 'paused',
      endpoints: [
        {
          name: 'depth',
          description: 'Watch closely above 200.',
          url,
          method: 'POST',
          headersJson: { 'x-team': 'shop' },
          bodyJson: { a: 1 },
          baselineIntervalMs: 300_000,
          minIntervalMs: 15_000,
          maxIntervalMs: 900_000,
          timeoutMs: 864_000_000,
          maxResponseSizeKb: 20_480,
          maxExecutionTimeMs: 60_000,
          aiHintIntervalMs: 30_000,
          failureCount: 3,
        },
        { name: 'old', url, baselineIntervalMs: 60_000, archivedAt: '2025-01-01T00:00:00Z' },
        { name: 'bare', url },
        { name: 'nowhere', baselineIntervalMs: 60_000 },
        { name: 'fast', url, baselineIntervalMs: 500 },
      ],
    },
    { id: 'job_2', name: 'night', status: 'active' },
    { id: 'job_3', name: 'gone', status: 'archived', endpoints: [{ name: 'x', url, baselineIntervalMs: 60_000 }] },
  ],
  endpoints: [
    { jobId: 'job_2', name: 'depth', url, baselineCron: '0 2 * * *', pausedUntil: '2026-06-01T00:00:00Z' },
    { jobId: 'job_9', name: 'lost', url, baselineIntervalMs: 60_000 },
  ],
}

it('jobs become groups and endpoints their schedules; what has no counterpart is listed', async () => {
  const text = JSON.stringify(file)
  const imported = await store.importCronicorn(text)
  expect(imported.schedules.map(({ name, answer, paused }) => [name, answer, paused])).toEqual([
    ['depth', 'created', false],
    ['night-depth', 'created', true],
  ])
  expect(imported.ok).toBe(false)
  expect(imported.left.map(({ where, why }) => `${where} ${why}`)).toEqual([
    'jobs[0].endpoints[1] it is archived',
    'jobs[0].endpoints[2] it has neither a cron nor an interval',
    'jobs[0].endpoints[3] it has no url',
    expect.stringMatching(/^jobs\[0\]\.endpoints\[4\] every/),
    'jobs[2] it is archived',
    'endpoints[1] its job "job_9" is not in the file'.replaceAll('"', ''),
  ])
  expect(imported.different.map(({ what }) => what)).toEqual([
    'maxResponseSizeKb 20480',
    'headers',
    'timeoutMs 864000000',
    'maxExecutionTimeMs 60000',
    'aiHintIntervalMs 30000',
    'failureCount 3',
  ])
  expect(await groups.get('checkout - sales')).toMatchObject({
    description: 'Protect the database first.',
    paused: { reason: 'paused in Cronicorn' },
    schedules: ['depth'],
  })
  expect(await schedules.get('depth')).toMatchObject({
    everyMs: 300_000,
    minMs: 15_000,
    maxMs: 900_000,
    timeoutMs: 1_800_000,
    attempts: 1,
    group: 'checkout - sales',
    target: { http: { url, method: 'POST', headers: { 'x-team': 'shop' }, body: { a: 1 }, keepBytes: 10_485_760 } },
    pausedBy: ['Paused by its group checkout - sales: paused in Cronicorn.'],
  })
  expect(await schedules.get('night-depth')).toMatchObject({
    cron: '0 2 * * *',
    zone: 'UTC',
    paused: { until: Date.UTC(2026, 5, 1), reason: 'paused in Cronicorn' },
  })
  const again = await store.importCronicorn(text, { partial: true })
  expect(again.schedules.map(({ answer }) => answer)).toEqual(['unchanged', 'unchanged'])
  expect(again.ok).toBe(true)
})

it.each(['[]', '{"jobs":{}}', '{"jobs":'])('a file that is none is refused whole: %s', async (text) => {
  expect(await problemsIn(store.importCronicorn(text))).toMatchObject([{ field: 'text' }])
})
