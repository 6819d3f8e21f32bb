import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../../src/core/error.ts'
import { checkNames } from '../../../src/operations/store/diagnosis.ts'
import { diagnosisOfRefusal, kernelChecks } from '../../../src/operations/store/doctor.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { checks } from '../../../src/table.ts'
import { Desk, errorOf, verbsAt } from '../desk.ts'
import { actor, checkIn, gone, hour, inEachWard, minute, second, type Ward } from './ward.ts'

/** Those of the kernel, and behind them those of parts. */
const names = [...checkNames, ...checks.map(({ check }) => check)]

/** Something of every kind that a doctor finds. */
async function makeIll(ward: Ward): Promise<void> {
  const { store, clock } = ward
  const target = { handler: 'nobody has it' }
  const dead = await ward.worker({ process: gone, can: { kinds: ['handler'] } })
  await store.do(setQueue, 'default', { policy: { maxAttempts: 1, maxConcurrentPerKey: 1 }, actor })
  await store.enqueue([{ target }, { target }])
  const [parked] = await ward.leaseFor(dead)
  if (parked !== undefined) await store.settle([{ ...parked, outcome: { kind: 'failed', reason: 'r' } }])
  for (const name of ['asleep', 'late']) {
    await store.do(putSchedule, { name, timing: { everyMs: hour }, target }, { mode: 'put', actor })
  }
  await ward.sql(`update belfry.schedule set wake_at = null where name = 'asleep'`)
  await store.do(setQueue, 'closed', { paused: { reason: 'r' }, actor })
  clock.advance(2 * hour)
  await store.enqueue([{ target }])
}

inEachWard((ward, kind) => {
  it('a healthy store is told to be so, check by check in their order', async () => {
    await ward().worker()
    const answer = await ward().doctor()
    expect(answer.checks.map(({ check }) => check)).toEqual(names)
    expect(answer.checks.map(({ check, state }) => [check, state])).toEqual(names.map((name) => [name, 'ok']))
    expect(answer).toMatchObject({ ok: true, at: ward().clock.now(), store: ward().store.place })
    expect(checkIn(answer, 'store').says).toMatch(new RegExp(`^${kind} \\d+\\.\\d+.* answers`))
    for (const { says } of answer.checks) expect(says).toMatch(/^[A-Z0-9].*\.$/)
  })

  it('without fix not a row is written, whatever is found', async () => {
    await makeIll(ward())
    const before = await ward().rows()
    const file = () => (kind === 'SQLite' ? contentOf(ward().store.place) : null)
    const content = file()
    const answer = await ward().doctor({})
    expect(answer.ok).toBe(false)
    expect(answer.checks.filter(({ state }) => state !== 'ok').map(({ check }) => check)).toEqual(
      expect.arrayContaining(['workers', 'stuck', 'overdue', 'chain', 'no-worker', 'queues']),
    )
    expect(file()).toEqual(content)
    expect(await ward().rows()).toEqual(before)
  })

  it('with fix all that is safe is mended and looked at again, and what is not safe is left and told', async () => {
    await makeIll(ward())
    const before = await ward().doctor()
    const answer = await ward().doctor({ fix: true })
    for (const name of ['stuck', 'workers', 'chain'] as const) {
      const mended = checkIn(answer, name).findings.filter(({ fixed }) => fixed !== undefined)
      expect(mended, name).not.toEqual([])
      for (const { fixed, subject } of mended) {
        expect(fixed).toMatch(/^[A-Z].*\.$/)
        expect(checkIn(before, name).findings.map((one) => one.subject)).toContain(subject)
      }
    }
    expect(checkIn(answer, 'chain').state).toBe('ok')
    expect(checkIn(answer, 'queues').state).toBe('note')
    const again = await ward().doctor({ fix: true })
    expect(again.checks.flatMap(({ findings }) => findings).filter(({ fixed }) => fixed !== undefined)).toEqual([])
  })

  it('no more than twenty findings are listed, and the rest is counted', async () => {
    const { store } = ward()
    for (let index = 0; index < 23; index++) {
      await store.do(setQueue, `q${index}`, { paused: { reason: 'r' }, actor })
    }
    const check = checkIn(await ward().doctor(), 'queues')
    expect([check.findings.length, check.more]).toEqual([20, 3])
    await ward().sql(`update belfry.queue set policy = '{' where name = 'q9'`)
    const worst = checkIn(await ward().doctor(), 'queues')
    expect(worst.findings[0]).toMatchObject({ subject: 'q9', state: 'wrong' })
    expect([worst.findings.length, worst.more]).toEqual([20, 4])
  })

  it('a check that cannot be made is told, and keeps no other from being made', async () => {
    await ward().worker()
    const { store, clock } = ward()
    await store.do(putSchedule, { name: 'odd', timing: { everyMs: hour } }, { mode: 'put', actor })
    await ward().sql(`update belfry.schedule set spec = '{'`)
    clock.advance(hour + minute + second)
    const answer = await ward().doctor()
    expect(checkIn(answer, 'overdue')).toMatchObject({
      state: 'wrong',
      findings: [{ says: 'The stored spec of schedule odd cannot be read.' }],
    })
    expect(answer.checks.map(({ check }) => check)).toEqual(names)
  })
})

/** SQLite keeps what is new in its log until it is brought over. */
function contentOf(file: string): string[] {
  return [file, `${file}-wal`].map((path) => createHash('sha256').update(readFileSync(path)).digest('hex'))
}

it('a store that was closed is not looked at', async () => {
  const desk = await Desk.open()
  await desk.store.close()
  expect(await errorOf(verbsAt(() => desk.context).store.doctor())).toMatchObject({ code: 'unavailable' })
})

describe('a store that could not be opened is told as', () => {
  it.each([
    ['schema', { found: 9, known: 1 }],
    ['durability', { settings: ['fsync'] }],
    ['store', {}],
  ])('%s, with the hint of the refusal as the next step', (check, details) => {
    const error = new BelfryError('unavailable', 'It was refused.', { hint: 'Do this.', details })
    expect(diagnosisOfRefusal(error, { store: 'x', at: 7 })).toEqual({
      ok: false,
      at: 7,
      store: 'x',
      checks: [
        {
          check,
          state: 'wrong',
          says: 'It was refused.',
          findings: [{ subject: 'x', state: 'wrong', says: 'It was refused.', next: 'Do this.' }],
          more: 0,
        },
      ],
    })
  })
})

it('every check has a name that answers know, and those that mend something say what', () => {
  expect(kernelChecks.map(({ check }) => check)).toEqual(checkNames)
  for (const { mend, mends } of kernelChecks) expect(mends === undefined).toBe(mend === undefined)
})
