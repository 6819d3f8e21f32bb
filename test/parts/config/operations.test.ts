import { describe, expect, it } from 'vitest'
import { atDesk, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'
import { workOf } from './work.ts'

const desk = atDesk()
const { config, schedules, queues, tokens } = verbsAt(() => desk().context)
const report = { cron: '0 9 * * *', target: { handler: 'report' } }

describe('config apply', () => {
  it('tells what became of each thing, and what changed of it', async () => {
    const first = await config.apply({
      source: 'ops',
      queues: { mail: { maxConcurrent: 2 } },
      schedules: { report },
      tokens: { ci: 'operate' },
    })
    expect(first).toMatchObject({
      answer: 'applied',
      queues: [{ name: 'mail', answer: 'created' }],
      schedules: [{ name: 'report', answer: 'created', inWords: expect.stringContaining('09:00') }],
      tokens: [{ name: 'ci', answer: 'absent' }],
      notes: ['Token ci does not exist yet: belfry token create ci'],
    })
    const second = await config.apply({
      source: 'ops',
      queues: { mail: { maxConcurrent: 3 } },
      schedules: { report: { ...report, timeout: '5s', startAt: '2026-12-01T09:00Z' } },
      tokens: { ci: { scope: 'operate' } },
    })
    expect(second.queues).toMatchObject([{ changes: [{ field: 'maxConcurrent', before: 2, after: 3 }] }])
    expect(second.schedules).toMatchObject([
      {
        answer: 'updated',
        changes: [
          { field: 'startAt', after: '2026-12-01T09:00:00.000Z' },
          { field: 'timeoutMs', after: 5_000 },
        ],
      },
    ])
  })

  it('that changes nothing says so', async () => {
    const file = { source: 'ops', queues: { mail: {} }, schedules: { report } }
    await config.apply(file)
    expect(await config.apply(file)).toMatchObject({ answer: 'unchanged' })
  })

  it('resolves the zone once: another machine that applies the file does not move it', async () => {
    await config.apply({ source: 'ops', schedules: { report } })
    const { context } = desk()
    const elsewhere = verbsAt(() => ({ ...context, zone: 'Asia/Tokyo' }))
    expect(await elsewhere.config.apply({ source: 'ops', schedules: { report } })).toMatchObject({
      answer: 'unchanged',
    })
    expect((await schedules.get('report')).zone).toBe('Europe/Paris')
  })

  it('tells everything that is wrong by its place in the file, and changes nothing', async () => {
    const input = {
      source: 'ops',
      queues: { mail: { maxConcurrent: 0, backoffCap: '1ms' }, '-x': {} },
      schedules: {
        report: { cron: '61 * * * *', target: { handler: 'report' }, name: 'other' },
        bare: { every: '10s', crn: 1 },
        fine: { every: '10s' },
      },
      tokens: { ci: 'root', cd: { scope: 'read', expires: '1d' } },
      server: { listn: 'x' },
    } as unknown as Parameters<typeof config.apply>[0]
    const problems = await problemsIn(config.apply(input))
    expect(problems.map(({ field }) => field).sort()).toEqual([
      'queues',
      'queues.mail.backoffCap',
      'queues.mail.maxConcurrent',
      'schedules.bare.crn',
      'schedules.report.cron',
      'schedules.report.name',
      'server.listn',
      'tokens.cd',
      'tokens.ci',
    ])
    expect(await schedules.list()).toEqual([])
    expect(await queues.list()).toEqual([])
  })

  it('of more schedules than anybody would wait for is refused before they are read', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`s${index}`, { every: 'nonsense' }]))
    expect(await problemsIn(config.apply({ source: 'ops', schedules: many }))).toMatchObject([
      { field: 'schedules', problem: 'has 1001 of them' },
    ])
  })

  it('is read until there is as much to tell as a refusal holds, and what follows is counted', async () => {
    const wrong = { cron: '0 2 29 2 *', zone: 'Pacific/Chatham', max: '1h', target: { handler: 'report' } }
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`s${index}`, wrong]))
    const input = { source: 'ops', schedules: many, tokens: { ci: 'root' } } as unknown as Parameters<
      typeof config.apply
    >[0]
    let problems: Awaited<ReturnType<typeof problemsIn>> = []
    const work = await workOf(async () => {
      problems = await problemsIn(config.apply(input))
    })
    expect(problems.slice(0, 3)).toMatchObject([
      { field: 'tokens', problem: 'has 1 entries that were not read' },
      {
        field: 'schedules',
        problem: 'has 900 entries that were not read',
        expected: 'the problems before them to be corrected first',
      },
      { field: 'schedules.s0.max' },
    ])
    expect(work.of('longestGapMs')).toBeLessThanOrEqual(200)
  })

  it('makes the form of a name once, and not for each', async () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`q${index}`, {}]))
    const formsFor = async (count: number) =>
      (await workOf(() => config.apply({ source: 'ops', queues: many(count) }))).of('strictObject')
    expect(await formsFor(50)).toBe(await formsFor(10))
  })

  it('of a source that is missing says what would be right', async () => {
    const input = { schedules: { report } } as unknown as Parameters<typeof config.apply>[0]
    expect(await problemsIn(config.apply(input))).toMatchObject([{ field: 'source', problem: 'is missing' }])
  })

  it('for new content only leaves alone what its source has, and what it had before', async () => {
    const [old, fresh] = [
      { source: 'ops', schedules: { report } },
      { source: 'ops', schedules: { report, b: report } },
    ]
    await config.apply(old)
    expect(await config.apply({ ...old, onlyNew: true })).toMatchObject({ answer: 'current', appliedAt: startAt })
    expect(await config.apply({ ...fresh, onlyNew: true })).toMatchObject({ answer: 'applied' })
    expect(await config.apply({ ...old, onlyNew: true })).toMatchObject({ answer: 'older', appliedAt: startAt })
    expect(await schedules.list()).toHaveLength(2)
    expect(await config.apply(old)).toMatchObject({
      answer: 'applied',
      schedules: [{}, { name: 'b', answer: 'deleted' }],
    })
  })

  it('knows the same content in another order again', async () => {
    await config.apply({ source: 'ops', schedules: { a: { every: '1h', priority: 1 }, b: { every: '1h' } } })
    const other = { schedules: { b: { every: '1h' }, a: { priority: 1, every: '1h' } }, source: 'ops', onlyNew: true }
    expect(await config.apply(other)).toMatchObject({ answer: 'current' })
  })

  it('tells which schedules it has taken over though they say the same, for it may delete them later', async () => {
    await schedules.create('report', report)
    const note =
      'Schedule report was created by hand: the file manages it now, and deletes it once the file no longer names it.'
    const content = { source: 'ops', schedules: { report } }
    expect(await config.apply(content)).toMatchObject({ schedules: [{ answer: 'unchanged' }], notes: [note] })
    expect(await config.apply(content)).toMatchObject({ notes: [] })
  })

  it('says of queues that only schedules name that they have the smallest ceiling', async () => {
    const { notes } = await config.apply({ source: 'ops', schedules: { report: { ...report, queue: 'mail' } } })
    expect(notes).toEqual([
      'The file does not define queue mail: if it does not exist, it is created with a ceiling of 1.',
    ])
  })
})

describe('what a file looks after', () => {
  it('is shown with its source, and refused to everybody else with that reason', async () => {
    await config.apply({ source: 'ops', queues: { mail: {} }, schedules: { report } })
    expect(await schedules.get('report')).toMatchObject({ managedBy: 'ops' })
    expect(await queues.get('mail')).toMatchObject({ managedBy: 'ops' })
    const managed = { code: 'conflict', message: expect.stringContaining('The config file of source ops manages') }
    await expect(schedules.update('report', { priority: 1 })).rejects.toMatchObject(managed)
    await expect(schedules.delete('report')).rejects.toMatchObject(managed)
    await expect(queues.set('mail', { maxConcurrent: 2 })).rejects.toMatchObject(managed)
    await schedules.pause('report')
    await schedules.run('report')
  })

  it('gives a token its scope when somebody makes it', async () => {
    await config.apply({ source: 'ops', tokens: { ci: 'operate' } })
    expect(await tokens.create('ci')).toMatchObject({ scope: 'operate', managedBy: 'ops' })
  })
})
