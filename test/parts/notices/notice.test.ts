import { describe, expect, it } from 'vitest'
import { policyProblems } from '../../../src/core/queue/policy.ts'
import {
  type Notice,
  type NoticeMemory,
  noticeDecision,
  noticeOf,
  noticeQuietMs,
  noticesPolicy,
  noticeTarget,
  notifyProblems,
  overdueDecision,
  recoveryDecision,
} from '../../../src/parts/notices/notice.ts'

const now = Date.UTC(2026, 0, 5, 9)
const http = (path: string) => ({ http: { url: `https://example.org/${path}` } })
const fresh: NoticeMemory = { lastAt: null, quietUntil: 0, suppressed: 0, isOpen: false }

describe('who is told', () => {
  it('is the nearest who wants to know, of each event for itself, and nobody else', () => {
    const levels = [{ onPark: http('schedule') }, { onFailure: http('queue'), onPark: http('queue') }, null]
    expect(noticeTarget('park', levels)).toEqual(http('schedule'))
    expect(noticeTarget('failure', levels)).toEqual(http('queue'))
    expect(noticeTarget('recover', levels)).toBe(null)
    expect(noticeTarget('overdue', [undefined, null, { onOverdue: http('namespace') }])).toEqual(http('namespace'))
  })
})

describe('the same', () => {
  it('is not told again for five minutes, and then with how often it was held back', () => {
    const first = noticeDecision({ now, memory: fresh, opens: true })
    expect(first).toMatchObject({ isTold: true, suppressed: 0, after: { lastAt: now, isOpen: true } })
    let memory = first.after
    for (const ms of [0, 1, noticeQuietMs - 1]) {
      const { isTold, after } = noticeDecision({ now: now + ms, memory, opens: true })
      expect(isTold).toBe(false)
      memory = after
    }
    const next = noticeDecision({ now: now + noticeQuietMs, memory, opens: true })
    expect(next).toMatchObject({ isTold: true, suppressed: 3, after: { suppressed: 0 } })
  })

  it('is told at once where the clock was far ahead when it was told last', () => {
    const ahead = { lastAt: now + 1e9, quietUntil: now + 1e9 + noticeQuietMs, suppressed: 0, isOpen: false }
    expect(noticeDecision({ now, memory: ahead, opens: true })).toMatchObject({ isTold: true, after: { lastAt: now } })
    expect(recoveryDecision({ now, memory: ahead, troubles: [], isWanted: true })).not.toBe(null)
    expect(overdueDecision({ now, memory: ahead })).toMatchObject({
      isTold: false,
      after: { quietUntil: now + 30_000 },
    })
  })

  it('is told at once after a recovery, which tells how many failures were held back', () => {
    const failing = { lastAt: now, quietUntil: now + noticeQuietMs, suppressed: 4, isOpen: true }
    const asked = { now: now + 1, memory: { ...fresh, suppressed: 1 }, troubles: [failing, fresh], isWanted: true }
    const recovered = recoveryDecision(asked)
    expect(recovered).toMatchObject({ suppressed: 5, after: { lastAt: now + 1, suppressed: 0 } })
    const [after] = recovered?.troublesAfter ?? []
    expect(after).toMatchObject({ quietUntil: 0, suppressed: 0, isOpen: false, lastAt: now })
    expect(noticeDecision({ now: now + 2, memory: after ?? fresh, opens: true }).isTold).toBe(true)
  })

  it('does not become a storm where something fails and recovers by turns', () => {
    let [failure, recover] = [fresh, fresh]
    let told = 0
    for (let at = now; at < now + 10 * noticeQuietMs; at += 10_000) {
      const failed = noticeDecision({ now: at, memory: failure, opens: true })
      const well = recoveryDecision({ now: at + 5_000, memory: recover, troubles: [failed.after], isWanted: true })
      failure = well?.troublesAfter[0] ?? failed.after
      recover = well?.after ?? recover
      told += Number(failed.isTold) + Number(well !== null)
    }
    expect(told).toBeGreaterThan(20)
    expect(told).toBeLessThanOrEqual(32)
  })

  it('counts for quiet also where nobody wants to hear of the recovery', () => {
    const { after } = recoveryDecision({ now, memory: fresh, troubles: [], isWanted: false }) ?? {}
    expect(after).toMatchObject({ lastAt: null, quietUntil: now + noticeQuietMs })
    expect(recoveryDecision({ now: now + 1, memory: after ?? fresh, troubles: [], isWanted: false })).toBe(null)
  })
})

describe('what is said', () => {
  const said = { event: 'failure', at: '', namespace: '', schedule: null, queue: '', run: null, attempt: 1 } as const

  it('has a reason of bounded length, whatever somebody put out, and never half a character', () => {
    const notice: Notice = {
      ...said,
      reason: `${'x'.repeat(499)}💥${'y'.repeat(100_000)}`,
      failuresInARow: null,
      suppressed: 0,
      output: null,
      test: false,
    }
    const { reason } = noticeOf(notice)
    expect(reason).toBe(`${'x'.repeat(499)}…`)
    expect(reason.isWellFormed()).toBe(true)
    expect(noticeOf({ ...notice, reason: 'short' }).reason).toBe('short')
  })

  it('goes through a queue whose first policy is sound, and keeps a receiver from being flooded', () => {
    expect(policyProblems(noticesPolicy)).toEqual([])
    expect(noticesPolicy).toMatchObject({ rateLimit: { startsMax: 60, perMs: 60_000 }, onExhausted: 'fail' })
  })
})

describe('a wish to be told', () => {
  it('is a target of one kind, and nothing that lives and dies with one program', () => {
    expect(notifyProblems({ onFailure: http(''), onPark: { command: ['page'] }, onRecover: undefined })).toEqual([])
    for (const bad of [null, 'https://example.org', [], {}, { handler: 'h' }, { http: {}, command: [] }]) {
      expect(notifyProblems({ onFailure: bad }), JSON.stringify(bad)).toMatchObject([{ field: 'onFailure' }])
    }
    expect(notifyProblems({ onSuccess: http('') })).toMatchObject([{ field: 'onSuccess' }])
  })
})
