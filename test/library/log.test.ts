import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { type EngineEvents, Events } from '../../src/engine/events.ts'
import { Listeners } from '../../src/library/listeners.ts'
import { lines, logEvents, loggerOf } from '../../src/library/log.ts'

const attempt = { runId: 'r-11', fence: 2, queue: 'default', scheduleId: null }
const ended = { ...attempt, status: 'completed', reason: 'success', durationMs: 1_234.5, source: 'run-now' } as const
const error = new Error('broken')

/** One of each; the type asks for all of them but that of the part of the tests. */
const samples: Omit<EngineEvents, 'note.found'> = {
  'run.started': { ...attempt, source: 'baseline-cron', latenessMs: 3, queueAgeMs: 3 },
  'run.completed': ended,
  'run.failed': { ...ended, status: 'failed' },
  'run.parked': { ...ended, status: 'parked' },
  'run.cancelled': { ...ended, status: 'cancelled' },
  'run.skipped': { ...ended, status: 'skipped' },
  'run.retrying': { ...ended, status: 'ready', nextEligibleAt: 1_767_603_600_000 },
  'run.used': { ...attempt, kind: 'agent', name: 'claude', usage: { tokensIn: 5, tokensOut: 3 } },
  'run.lease-lost': { ...attempt, because: 'taken-back' },
  'run.forgotten': attempt,
  'run.unsettled': { ...attempt, error },
  'run.reclaimed': {
    runId: 'r-11',
    fence: 2,
    status: 'ready',
    reason: 'lost',
    because: 'holder-dead',
    nextEligibleAt: 1,
  },
  'schedule.fired': { schedule: 's', runId: 'r-11', occurrenceAt: 1_767_603_600_000, source: 'baseline-cron' },
  'schedule.asked': { schedules: ['s'] },
  'schedule.skipped': { schedule: 's', from: 1_767_603_600_000, count: 2, reason: 'missed' },
  'schedule.broken': { schedule: 's', error },
  'schedule.overdue': { schedule: 's', overdueMs: 61_000 },
  'hold.put': { hold: 'h-11', on: 'namespace', reason: 'stopped', note: 'a fire', by: 'ada', from: 0, until: null },
  'hold.lifted': {
    hold: 'h-12',
    on: 'queue:mail',
    reason: 'hold',
    note: null,
    by: 'ada',
    from: 0,
    until: 1,
    because: 'ended',
  },
  'store.repaired': { what: 'chain', subject: 'schedule s', sentence: 'It was mended.' },
  'store.unavailable': { doing: 'reclaim', error },
  'store.back': { afterMs: 5_000 },
  'store.hears': { hears: false },
  'clock.jumped': { byMs: -7_200_000 },
  'clock.held': { behindMs: 60_000 },
  'config.applied': { file: 'h:/f', source: 'ops', answer: 'applied', created: 1, updated: 2, deleted: 3 },
  'config.refused': { file: 'h:/f', error },
  'run.unusual': { ...attempt, scheduleId: 's-11', unusual: ['tokens: 9000, and usually 1000'] },
  'guard.failed': { ...attempt, guard: 'until', reason: 'exit code 2' },
  'proposal.made': {
    proposal: 'p-17',
    schedule: 'depth',
    analysis: 'a-12',
    author: 'demo',
    wants: 'every 30s for 15m',
    reason: 'it grows',
    expiresAt: 1,
  },
  'door.failed': { error },
  'worker.started': { workerId: 'w-11', slots: 5 },
  'worker.halted': { workerId: 'w-11', reason: '/srv/.belfry/STOP: Incident 4711.' },
  'worker.resumed': { workerId: 'w-11' },
  'worker.stopping': { workerId: 'w-11', running: 1, graceMs: 25_000 },
  'worker.waiting': { workerId: 'w-11', running: 1, graceMs: 600_000 },
  'worker.stopped': { workerId: 'w-11', forced: 1 },
  'worker.pruned': { runs: 1, ledger: 2, other: 3 },
  'worker.failed': { loop: 'fire', error },
}
const names = Object.keys(samples) as (keyof typeof samples)[]

function written(options: { level: string }): { logger: Logger; lines: Record<string, unknown>[] } {
  const found: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      found.push(JSON.parse(String(chunk)))
      done()
    },
  })
  return { logger: loggerOf(pino(options, stream)), lines: found }
}

function tellAll(events: Events): void {
  for (const name of names) events.tell(name, samples[name] as never)
}

describe('docs/events.md', () => {
  const text = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `([\w.-]+)` \| (\w+) \| (.+?) \| .+ \|$/gm)].map(([, name, level, fields]) => {
    return { name, level, fields: [...(fields ?? '').matchAll(/`(\w+)`/g)].map(([, field]) => field) }
  })

  it('lists every event that there is, with its level and its fields, and no other', () => {
    expect(rows).toEqual(names.map((name) => ({ name, level: lines[name].level, fields: Object.keys(samples[name]) })))
  })
})

describe('the log', () => {
  it('has one line for every event, under its name, with its fields and a sentence', () => {
    const { logger, lines: found } = written({ level: 'trace' })
    const events = new Events()
    logEvents(events, logger)
    tellAll(events)
    expect(found.map(({ event }) => event)).toEqual(names)
    for (const line of found) {
      const name = line.event as keyof typeof samples
      const { error: thrown, ...fields } = samples[name] as { error?: Error }
      expect(line).toMatchObject(fields)
      if (thrown !== undefined) expect(line.error).toMatchObject({ type: 'Error', message: 'broken' })
      expect(line.msg).toMatch(/^[A-Z].+[^.]\.$/)
      expect(line.msg).not.toMatch(/undefined|NaN|\[object/)
      expect(line.level).toBe(pino.levels.values[lines[name].level])
    }
  })

  it('names the loop of the worker that the store did not answer', () => {
    expect(lines['store.unavailable'].say({ doing: 'reclaim', error })).toBe(
      'The store did not answer (reclaim); retrying: broken.',
    )
  })

  it('is silent from a level on, and wholly where nobody wants it', () => {
    const { logger, lines: found } = written({ level: 'warn' })
    const events = new Events()
    logEvents(events, logger)
    logEvents(events, loggerOf(false))
    tellAll(events)
    expect(found.length).toBe(names.filter((name) => ['warn', 'error'].includes(lines[name].level)).length)
  })

  it('speaks from warnings on, unless it is told otherwise', () => {
    expect(loggerOf().level).toBe('warn')
    expect(loggerOf({ level: 'info', name: 'mine' })).toMatchObject({ level: 'info' })
    expect(loggerOf({ level: 'info', transport: { target: 'pino/file', options: { destination: 2 } } }).level).toBe(
      'info',
    )
  })
})

describe("the program's own listeners", () => {
  it('may throw, at once or later, and only the log hears of it', async () => {
    const { logger, lines: found } = written({ level: 'trace' })
    const events = new Events()
    const listeners = new Listeners(events, logger)
    const calls: string[] = []
    listeners.on('store.back', () => {
      throw error
    })
    listeners.on('store.back', async () => {
      throw error
    })
    listeners.on('store.back', () => calls.push('third'))
    events.tell('store.back', { afterMs: 1 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls).toEqual(['third'])
    const failed = { event: 'listener.failed', of: 'store.back', error: { message: 'broken' } }
    expect(found).toMatchObject([failed, failed])
  })

  it('hear once, or until they have had enough', () => {
    const events = new Events()
    const listeners = new Listeners(events, loggerOf(false))
    const calls: string[] = []
    const often = () => void calls.push('often')
    const once = () => void calls.push('once')
    listeners.on('store.back', often)
    listeners.once('store.back', once)
    listeners.once('store.back', never)
    listeners.off('store.back', never)
    events.tell('store.back', { afterMs: 1 })
    events.tell('store.back', { afterMs: 2 })
    listeners.off('store.back', often)
    listeners.off('store.back', often)
    events.tell('store.back', { afterMs: 3 })
    expect(calls).toEqual(['often', 'once', 'often'])
    expect(events.listenerCount('store.back')).toBe(0)
  })
})

function never(): void {
  expect.unreachable('It was taken back.')
}
