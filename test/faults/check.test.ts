import { describe, expect, it } from 'vitest'
import {
  accountKept,
  budgetKept,
  type Check,
  ceilingKept,
  effectsOnce,
  noTrouble,
  nothingLeftLeased,
  nothingLost,
  nothingStale,
  nothingStolen,
  peakOf,
  recordedOnce,
} from './check.ts'
import { always } from './fault.ts'
import type { RecordedRun } from './history.ts'
import { attempt, MadeUp, row } from './made-up.ts'
import { everyTargetMatched } from './targets.ts'

const matched = everyTargetMatched({ epsilonMs: 500 })

function kinds(check: Check, { history }: MadeUp): string[] {
  return check(history).map(({ kind }) => kind)
}

const lost = (fence: number, told = {}) => attempt(fence, { outcome: 'lost', ...told })

/** A round in which a worker died and another one finished what it had begun. */
function survived(): MadeUp {
  return new MadeUp()
    .ack('a', 'r-1')
    .run('r-1', {
      idempotencyKey: 'a',
      attempts: [lost(1, { endedAt: 2_000 }), attempt(2, { startedAt: 2_010, endedAt: 2_100 })],
    })
    .seen('r-1', { endsAt: null })
    .seen('r-1', { fence: 2, at: 2_020 })
}

it('a history in which all was kept passes every check', () => {
  const history = survived()
    .run('r-2', { schedule: 's', occurrenceAt: 1_000 })
    .seen('r-2', { at: 1_005 })
    .schedule('s', { kind: 'every-instant', targets: [1_000] }, [row(1_000, { runId: 'r-2' })])
    .sample(2)
  for (const check of [...always, matched]) expect(kinds(check, history)).toEqual([])
})

describe('what a client was told', () => {
  it('is lost when it is not there', () => {
    expect(kinds(nothingLost, new MadeUp().ack('a', 'r-1'))).toEqual(['lost'])
  })

  it('is lost when it is another one', () => {
    const other = new MadeUp().ack('a', 'r-1').run('r-1', { idempotencyKey: 'b' })
    expect(kinds(nothingLost, other)).toEqual(['lost'])
  })

  it('is doubled when one key has two runs', () => {
    const twice = survived().ack('a', 'r-2').run('r-2', { idempotencyKey: 'a' })
    expect(kinds(nothingLost, twice)).toEqual(['doubled'])
  })

  it.each(['ready', 'leased', 'held'])('is lost when it never ends and stays %s', (status) => {
    expect(kinds(nothingLost, new MadeUp().run('r-1', { status, attempts: [] }))).toEqual(['lost'])
  })
})

describe('the record', () => {
  it('is double when a run has succeeded twice', () => {
    const attempts = [attempt(1), attempt(2, { startedAt: 1_060 })]
    expect(kinds(recordedOnce, new MadeUp().run('r-1', { attempts }))).toContain('double-record')
  })

  it('is double when one lease has two ends', () => {
    const attempts = [lost(1), attempt(1)]
    expect(kinds(recordedOnce, new MadeUp().run('r-1', { attempts }))).toEqual(['double-record'])
  })

  it('is double when a run that succeeded goes on', () => {
    const attempts = [attempt(1, { ends: null })]
    expect(kinds(recordedOnce, new MadeUp().run('r-1', { attempts, status: 'ready' }))).toEqual(['double-record'])
  })

  it('is wrong when a run is completed and nobody completed it', () => {
    expect(kinds(recordedOnce, new MadeUp().run('r-1', { attempts: [lost(1)] }))).toEqual(['double-record'])
  })

  it('has a gap when a lease has no end', () => {
    expect(kinds(recordedOnce, new MadeUp().run('r-1', { attempts: [attempt(2)] }))).toEqual(['unrecorded'])
  })

  it('has none when the last lease is still held', () => {
    const held = new MadeUp().run('r-1', { status: 'leased', fence: 2, leasedAt: 2_000, attempts: [lost(1)] })
    expect(kinds(recordedOnce, held)).toEqual([])
  })
})

describe('a stale write', () => {
  it('is one that came while the next attempt was at work', () => {
    const attempts = [
      attempt(1, { outcome: 'failed', endedAt: 2_050 }),
      attempt(2, { startedAt: 2_000, endedAt: 2_100 }),
    ]
    const history = new MadeUp().run('r-1', { attempts }).seen('r-1').seen('r-1', { fence: 2, at: 2_010 })
    expect(kinds(nothingStale, history)).toEqual(['stale'])
  })

  it('is one that ended a run which somebody else holds', () => {
    const history = new MadeUp().run('r-1', { attempts: [attempt(1)], fence: 2 }).seen('r-1')
    expect(kinds(nothingStale, history)).toEqual(['stale'])
  })

  it('is one that was taken for the end of the attempt that goes on', () => {
    const attempts = [lost(1, { endedAt: 2_000 }), attempt(2, { startedAt: 2_000, endedAt: 2_050 })]
    const history = new MadeUp()
      .run('r-1', { attempts })
      .seen('r-1', { endsAt: 2_040 })
      .seen('r-1', { fence: 2, at: 2_010, endsAt: 2_400 })
    expect(kinds(nothingStale, history)).toEqual(['stale'])
  })

  it('is one of an attempt that nobody saw end', () => {
    const history = new MadeUp().run('r-1').seen('r-1', { endsAt: null })
    expect(kinds(nothingStale, history)).toEqual(['stale'])
  })

  it('is none where the next grant says that it was earlier than it was', () => {
    const attempts = [
      attempt(1, { outcome: 'released', endedAt: 2_050 }),
      attempt(2, { startedAt: 2_000, endedAt: 2_200 }),
    ]
    const history = new MadeUp().run('r-1', { attempts }).seen('r-1', { fence: 2, at: 2_060 })
    expect(kinds(nothingStale, history)).toEqual([])
  })

  it('is none that came late and before anybody else had begun', () => {
    const history = new MadeUp()
      .run('r-1', { attempts: [attempt(1, { endedAt: 9_000 })] })
      .seen('r-1', { endsAt: 8_999 })
    expect(kinds(nothingStale, history)).toEqual([])
  })
})

describe('a lease', () => {
  const taken = (heldMs: number) => [
    lost(1, { startedAt: 5_000, endedAt: 5_000 + heldMs }),
    attempt(2, { workerId: 'w-2' }),
  ]
  const killedAt = (at: number) => ({ kind: 'kill', at, workerId: 'w-1', held: [] }) as const

  it('is stolen when it was taken before it could have expired', () => {
    expect(kinds(nothingStolen, new MadeUp().run('r-1', { attempts: taken(999) }))).toEqual(['stolen'])
    expect(kinds(nothingStolen, new MadeUp().run('r-1', { attempts: taken(1_000) }))).toEqual([])
  })

  it('is not stolen from the dead, but from one who died only after it', () => {
    const history = () => new MadeUp().run('r-1', { attempts: taken(100) })
    expect(kinds(nothingStolen, history().interruption(killedAt(5_050)))).toEqual([])
    expect(kinds(nothingStolen, history().interruption(killedAt(5_101)))).toEqual(['stolen'])
    expect(kinds(nothingStolen, history().interruption({ ...killedAt(5_050), kind: 'pause' }))).toEqual(['stolen'])
  })
})

it('a worker that took leave left a lease behind, unless it had given it up before', () => {
  const held = [{ runId: 'r-1', fence: 2, expiresAt: 9_000 }]
  const gone = () => new MadeUp().interruption({ kind: 'farewell', at: 8_000, workerId: 'w-1', held })
  expect(kinds(nothingLeftLeased, gone())).toEqual(['left-leased'])
  expect(kinds(nothingLeftLeased, gone().refused('r-1', 1))).toEqual(['left-leased'])
  expect(kinds(nothingLeftLeased, gone().refused('r-1', 2))).toEqual([])
})

describe('effects', () => {
  it('are doubled when one lease is carried out twice', () => {
    const history = new MadeUp().run('r-1').seen('r-1').seen('r-1', { pid: 8 })
    expect(kinds(effectsOnce, history)).toEqual(['doubled'])
  })

  it('are repeated when a run that must not repeat is carried out under two leases', () => {
    const attempts = [lost(1), attempt(2, { startedAt: 1_060 })]
    const history = new MadeUp().run('r-1', { attempts, repeatable: false }).seen('r-1').seen('r-1', { fence: 2 })
    expect(kinds(effectsOnce, history)).toEqual(['repeated'])
  })

  it('are lost sight of when the store knows nothing of them', () => {
    expect(kinds(effectsOnce, new MadeUp().seen('r-1'))).toEqual(['lost'])
    expect(kinds(effectsOnce, new MadeUp().run('r-1').seen('r-1', { fence: 2 }))).toEqual(['unrecorded'])
  })
})

describe('a ceiling', () => {
  /** Runs that were each leased from an instant to another, and seen at work meanwhile. */
  const leased = (...spans: readonly (readonly [from: number, to: number, told?: Partial<RecordedRun>])[]) => {
    const madeUp = new MadeUp()
    for (const [index, [from, to, told]] of spans.entries()) {
      const attempts = [attempt(1, { startedAt: from - 10, endedAt: to })]
      madeUp.run(`r-${index}`, { attempts, ...told }).seen(`r-${index}`, { at: from })
    }
    return madeUp
  }

  it('is passed when the store itself lists more', () => {
    expect(kinds(ceilingKept, new MadeUp().sample(2).sample(3))).toEqual(['ceiling'])
    expect(kinds(ceilingKept, new MadeUp().sample(1, 'k').sample(2, 'k'))).toEqual(['ceiling'])
  })

  it('is passed when more leases were granted at once', () => {
    expect(kinds(ceilingKept, leased([0, 100], [50, 150], [99, 200]))).toEqual(['ceiling'])
  })

  it('is passed when leases that expired are taken for free', () => {
    const expired = { attempts: [lost(1, { startedAt: 0, endedAt: 1_500 })] }
    expect(kinds(ceilingKept, leased([0, 0, expired], [0, 0, expired], [1_200, 1_300]))).toEqual(['ceiling'])
  })

  it('is kept when one ends in the ms in which another begins', () => {
    expect(kinds(ceilingKept, leased([0, 100], [0, 100], [100, 200]))).toEqual([])
  })

  it('is kept when a worker stood still between reading the clock and its grant', () => {
    const old = { attempts: [attempt(1, { startedAt: 0, endedAt: 3_000 })] }
    expect(kinds(ceilingKept, leased([0, 900], [0, 900], [2_000, 0, old], [2_000, 0, old]))).toEqual([])
  })

  it('of an account is passed when its runs are at work at once, whatever their queues, or the store counts more', () => {
    const account = 'shared'
    expect(kinds(accountKept, leased([0, 100, { account }], [50, 150, { account, queue: 'other' }]))).toEqual([
      'ceiling',
    ])
    expect(kinds(accountKept, leased([0, 100, { account }], [100, 150, { account }], [0, 150]))).toEqual([])
    expect(kinds(accountKept, new MadeUp().account({ sampled: 2 }))).toEqual(['ceiling'])
    expect(kinds(accountKept, new MadeUp().account({ left: 1 }))).toEqual(['left-reserved'])
  })

  it('of a budget is passed when it was seen so, and kept when nothing is left reserved', () => {
    expect(kinds(budgetKept, new MadeUp())).toEqual([])
    expect(kinds(budgetKept, new MadeUp().budget({ over: 1 }))).toEqual(['ceiling'])
    expect(kinds(budgetKept, new MadeUp().budget({ left: 10, attempts: 1 }))).toEqual(['left-reserved'])
  })

  it('of a key is passed by itself', () => {
    const concurrencyKey = 'k'
    expect(kinds(ceilingKept, leased([0, 100, { concurrencyKey }], [50, 150, { concurrencyKey }]))).toEqual(['ceiling'])
  })

  it('counts what is still held', () => {
    const held = { attempts: [], leasedAt: 0, status: 'leased', fence: 1 }
    expect(kinds(ceilingKept, leased([0, 0, held], [10, 90], [20, 90]))).toEqual(['ceiling'])
  })

  it('is measured by the most that were open at once', () => {
    expect(peakOf([])).toBe(0)
    expect(peakOf([{ from: 1, to: 1 }])).toBe(0)
    expect(
      peakOf([
        { from: 1, to: 9 },
        { from: 2, to: 3 },
        { from: 3, to: 4 },
      ]),
    ).toBe(2)
  })
})

it('what a worker calls a defect of its own is trouble', () => {
  expect(kinds(noTrouble, new MadeUp().defect('lease: TypeError'))).toEqual(['trouble'])
})

describe('targets', () => {
  const everySecond = { kind: 'every-instant', targets: [1_000, 2_000] } as const
  const told = { kind: 'every-instant-told', targets: [1_000, 2_000] } as const
  const of = (at: number) => ({ schedule: 's', occurrenceAt: at })
  const both = () =>
    new MadeUp().run('r-1', of(1_000)).seen('r-1', { at: 1_005 }).run('r-2', of(2_000)).seen('r-2', { at: 2_005 })

  it('are missed when nothing stands in the ledger for them', () => {
    const history = both().schedule('s', told, [row(1_000)])
    expect(kinds(matched, history)).toEqual(['missed'])
  })

  it('are missed when each must have a run and one has only a reason', () => {
    const rows = [row(1_000), row(2_000, { outcome: 'missed' })]
    const one = () => new MadeUp().run('r-1', of(1_000)).seen('r-1', { at: 1_005 })
    expect(kinds(matched, one().schedule('s', everySecond, rows))).toEqual(['missed'])
    expect(kinds(matched, one().schedule('s', told, rows))).toEqual([])
  })

  it('are doubled by two runs, by two ends, and by an end for an instant that was none', () => {
    const rows = [row(1_000), row(2_000)]
    const again = both().run('r-3', of(2_000)).seen('r-3', { at: 2_010 })
    expect(kinds(matched, again.schedule('s', everySecond, rows))).toEqual(['doubled'])
    expect(kinds(matched, both().schedule('s', told, [...rows, row(2_000, { outcome: 'missed' })]))).toEqual([
      'doubled',
    ])
    const stray = both().run('r-3', of(1_500)).seen('r-3', { at: 1_500 })
    expect(kinds(matched, stray.schedule('s', told, rows))).toEqual(['doubled'])
    const range = row(1_000, { to: 2_000, count: 3, outcome: 'missed' })
    expect(kinds(matched, new MadeUp().schedule('s', told, [range]))).toEqual(['doubled'])
  })

  it('are missed too early and too late', () => {
    const rows = [row(1_000), row(2_000)]
    const early = new MadeUp()
      .run('r-1', of(1_000))
      .seen('r-1', { at: 999 })
      .run('r-2', of(2_000))
      .seen('r-2', { at: 2_501 })
    expect(kinds(matched, early.schedule('s', everySecond, rows))).toEqual(['early', 'late'])
  })

  describe('of a fixed delay', () => {
    const delay = { kind: 'delay', everyMs: 1_000, endAt: 3_500 } as const
    const link = (from: number, endedAt: number) => ({ ...of(from), attempts: [attempt(1, { endedAt })] })

    it('are an unbroken chain', () => {
      const chain = new MadeUp().run('r-1', link(1_000, 1_050)).run('r-2', link(2_050, 2_600)).schedule('s', delay, [])
      expect(kinds(matched, chain)).toEqual([])
    })

    it('are missed when the chain breaks before its end, or never begins', () => {
      expect(kinds(matched, new MadeUp().run('r-1', link(1_000, 1_050)).schedule('s', delay, []))).toEqual(['missed'])
      expect(kinds(matched, new MadeUp().schedule('s', delay, []))).toEqual(['missed'])
    })

    it('are doubled when a link was planned before the one before had ended', () => {
      const chain = new MadeUp().run('r-1', link(1_000, 1_500)).run('r-2', link(2_050, 2_600)).schedule('s', delay, [])
      expect(kinds(matched, chain)).toEqual(['doubled'])
    })
  })
})
