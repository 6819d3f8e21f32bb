import { describe, expect, it } from 'vitest'
import { errorOf, problemsIn } from '../operations/desk.ts'
import { aborted, Gate, open, type Stage, time } from './stage.ts'

const hourly = { cron: '0 * * * *', zone: 'UTC' }

/** A schedule whose first run is at work and stays there. */
async function atWork(input: Parameters<Stage['put']>[0] = {}, gate = new Gate()): Promise<Stage & { gate: Gate }> {
  const stage = await open({ work: gate.pass })
  await stage.put({ ...hourly, ...input })
  await stage.belfry.start()
  await stage.passTo('10:00')
  await stage.until('run.started')
  return Object.assign(stage, { gate })
}

async function standing(stage: Stage): Promise<string[]> {
  return (await stage.runs()).map(({ occurrenceAt, status, waiting }) => {
    return `${time(occurrenceAt)} ${status}${waiting === undefined ? '' : ` behind ${waiting.for}`}`
  })
}

describe('overlap', () => {
  it('skips by default, and the skip names the run that caused it', async () => {
    const stage = await atWork()
    await stage.passTo('11:00')
    await stage.passTo('12:00')
    const [skip, first] = await stage.belfry.schedules.history('s')
    expect(skip).toMatchObject({ outcome: 'overlap', count: 2, runId: null, causedBy: first?.runId })
    stage.gate.open()
    await stage.until('run.completed')
    await stage.passTo('13:00')
    await stage.until('run.completed', 2)
    expect(await stage.ledger()).toEqual(['10:00 completed', '11:00..12:00 x2 overlap', '13:00 completed'])
  })

  it('queue lets one wait, or as many as queueMax says, and skips the others', async () => {
    const stage = await atWork({ overlap: 'queue' })
    await stage.passTo('11:00')
    await stage.passTo('12:00')
    expect(await standing(stage)).toEqual(['10:00 leased', '11:00 ready behind overlap'])
    const [skip, waiting] = await stage.belfry.schedules.history('s')
    expect(skip).toMatchObject({ outcome: 'overlap', causedBy: waiting?.runId })
    await stage.belfry.schedules.update('s', { queueMax: 3 })
    for (const hour of ['13:00', '14:00', '15:00']) await stage.passTo(hour)
    expect(await standing(stage)).toEqual([
      '10:00 leased',
      '11:00 ready behind overlap',
      '13:00 ready behind overlap',
      '14:00 ready behind overlap',
    ])
  })

  it('queue starts the next when the one before has ended, and one at a time', async () => {
    const gates = [new Gate(), new Gate(), new Gate()]
    const stage = await open({ work: (run) => gates[stage.seen.length - 1]?.pass(run) })
    await stage.put({ ...hourly, overlap: 'queue', queueMax: 2, maxLateness: '12h' })
    await stage.belfry.start()
    for (const hour of ['10:00', '11:00', '12:00']) await stage.passTo(hour)
    expect(stage.starts).toEqual(['10:00'])
    gates[0]?.open()
    await stage.until('run.started', 2)
    await stage.passTo('12:10')
    expect(stage.starts).toEqual(['10:00', '12:00'])
    gates[1]?.open()
    await stage.until('run.started', 3)
    expect(stage.seen.map(({ run }) => time(run.plannedAt))).toEqual(['10:00', '11:00', '12:00'])
  })

  it('allow lets them run beside each other', async () => {
    const stage = await atWork({ overlap: 'allow' })
    await stage.passTo('11:00')
    await stage.until('run.started', 2)
    expect(await standing(stage)).toEqual(['10:00 leased', '11:00 leased'])
  })

  it('cancel asks the live run to end and makes the new one at once, which waits until the old one has ended', async () => {
    const gate = new Gate()
    const isOver = new Gate()
    const stage = await open({
      work: async ({ plannedAt, signal }) => {
        if (time(plannedAt) !== '10:00') return 'new'
        await aborted(signal)
        gate.open()
        // It is told, and takes its time.
        await isOver.pass({ signal: new AbortController().signal })
        throw signal.reason
      },
    })
    await stage.put({ ...hourly, overlap: 'cancel' })
    await stage.belfry.start()
    await stage.passTo('10:00')
    await stage.until('run.started')
    await stage.passTo('11:00')
    await gate.pass({ signal: new AbortController().signal })
    const [old] = await stage.runs()
    expect(old?.lease).toMatchObject({ cancelReason: 'replaced' })
    expect(await standing(stage)).toEqual(['10:00 leased', '11:00 ready behind overlap'])
    expect(stage.starts).toEqual(['10:00'])
    isOver.open()
    await stage.until('run.completed')
    expect(stage.told.map(({ name }) => name).filter((name) => name.startsWith('run.'))).toEqual([
      'run.started',
      'run.cancelled',
      'run.started',
      'run.completed',
    ])
    expect(await stage.ledger()).toEqual(['10:00 cancelled', '11:00 completed'])
  })

  it('is queue by default where every missed occurrence is to run, and can be neither skip nor cancel', async () => {
    const stage = await atWork({ missed: 'all' })
    await stage.passTo('11:00')
    await stage.passTo('12:00')
    expect(await standing(stage)).toEqual(['10:00 leased', '11:00 ready behind overlap', '12:00 ready behind overlap'])
    for (const overlap of ['skip', 'cancel'] as const) {
      const [problem] = await problemsIn(stage.put({ name: 'other', ...hourly, missed: 'all', overlap }))
      expect(problem).toMatchObject({ field: 'overlap', expected: expect.stringContaining('queue or allow') })
    }
    await stage.put({ name: 'other', ...hourly, missed: 'all', overlap: 'allow' })
  })

  it('refuses a run-now beside a live run under skip, naming it, unless it is forced', async () => {
    const stage = await atWork()
    const [live] = await stage.runs()
    const error = await errorOf(stage.belfry.schedules.run('s'))
    expect(error).toMatchObject({ code: 'conflict', details: { liveRunId: live?.id } })
    expect(error.message).toContain(live?.id)
    await stage.belfry.schedules.run('s', { force: true })
    await stage.until('run.started', 2)
    expect(await standing(stage)).toEqual(['10:00 leased', 'null leased'])
  })

  it('holds for run-now under the other rules as well', async () => {
    const queued = await atWork({ overlap: 'queue' })
    expect(await queued.belfry.schedules.run('s')).toMatchObject({ kept: 'overlap' })
    expect((await errorOf(queued.belfry.schedules.run('s'))).details).toMatchObject({
      liveRunId: (await queued.runs())[1]?.id,
    })
    const allowed = await atWork({ overlap: 'allow' })
    await allowed.belfry.schedules.run('s')
    await allowed.until('run.started', 2)
    const replaced = await atWork({ overlap: 'cancel' })
    await replaced.belfry.schedules.run('s')
    await replaced.until('run.cancelled')
    await replaced.until('run.started', 2)
    expect(await standing(replaced)).toEqual(['10:00 cancelled', 'null leased'])
  })

  it('takes a parked occurrence for ended', async () => {
    const stage = await open({ work: () => Promise.reject(Object.assign(new Error('no'), { retryable: false })) })
    await stage.belfry.queues.set('default', { onExhausted: 'park' })
    await stage.put(hourly)
    await stage.drainTo('11:00')
    expect(await standing(stage)).toEqual(['10:00 parked', '11:00 parked'])
    expect(await stage.ledger()).toEqual(['10:00 parked', '11:00 parked'])
  })
})
