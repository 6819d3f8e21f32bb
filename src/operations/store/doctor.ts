import { z } from 'zod'
import { BelfryError, isDamage, isPassing } from '../../core/error.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { clock } from './checks/clock-check.ts'
import { durability, integrity, schema, store } from './checks/database-check.ts'
import { listeners } from './checks/listeners-check.ts'
import { noWorker, queues } from './checks/queues-check.ts'
import { broken, chain, failing, handlers, overdue } from './checks/schedules-check.ts'
import { stuck } from './checks/stuck-check.ts'
import { workers } from './checks/workers-check.ts'
import { type Check, type CheckName, type Diagnosis, diagnosis, type Finding } from './diagnosis.ts'
import { failed, findingsMax, type HealthCheck, type Seen, wrong } from './health-check.ts'
import { Inspection } from './inspection.ts'

/** All checks, in the order in which they are reported. */
export const kernelChecks: readonly HealthCheck[] = [
  store,
  schema,
  durability,
  integrity,
  clock,
  listeners,
  workers,
  stuck,
  overdue,
  chain,
  noWorker,
  handlers,
  queues,
  failing,
  broken,
]

/** Expired leases are reclaimed first: only a worker without leases can be recorded as dead. */
const mending: readonly HealthCheck[] = [stuck, workers, chain, store]

export const doctor = operation({
  noun: 'store',
  verb: 'doctor',
  namesWorkers: true,
  isOk: ({ ok }) => ok,
  defaultTool:
    'Check everything that may keep work from running, and say what to do. fix: true repairs what is safe to repair.',
  command: ['doctor'],
  says: 'Check everything that may keep work from running; with fix, repair what is safe to repair.',
  request: 'a request for a diagnosis',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({
    fix: z.boolean().describe('Repair what is safe to repair. Default: false, which writes nothing.').optional(),
    deep: z.boolean().describe('Read a large SQLite file whole. Default: false.').optional(),
  }),
  takes: [],
  output: diagnosis,
  errors: ['invalid'],
  doors: everyDoor,
  show: { load: async () => (await import('./show-diagnosis.ts')).showDiagnosis },
  examples: [{}, { fix: true }],
  async run(context, { fix = false, deep = false }) {
    try {
      const inspection = await Inspection.begin(context, deep)
      const found = await examine(inspection)
      // Writing to a damaged file may make it worse.
      const mended = fix && !isDamaged(found) ? await mend(inspection) : new Map<CheckName, readonly Finding[]>()
      if (mended.size === 0) return found
      return withMended(await examine(await Inspection.begin(context, deep)), mended)
    } catch (error) {
      const refusal = isPassing(error) ? error : await damageBehind(context, error)
      return diagnosisOfRefusal(refusal, { store: context.store.place, at: context.clock.now() })
    }
  },
})

function isDamaged({ checks }: Diagnosis): boolean {
  return checks.some(({ check, state }) => check === 'integrity' && state === 'wrong')
}

/** An unexpected error may come from damage: missing rows, or impossible values. Otherwise it is a defect and is thrown. */
async function damageBehind({ store }: OperationContext, error: unknown): Promise<BelfryError> {
  const damage = await store.damage().catch(() => null)
  if (damage === null) throw error
  const says = `${store.place} is damaged: ${damage}.`
  return new BelfryError('unavailable', says, { hint: integrity.unblocks, details: { damaged: true }, cause: error })
}

async function examine(inspection: Inspection): Promise<Diagnosis> {
  const checks: Check[] = []
  for (const healthCheck of [...kernelChecks, ...inspection.context.checks]) {
    const seen = await healthCheck.look(inspection).catch(failed)
    checks.push(checkOf(healthCheck.check, seen))
  }
  return diagnosisOf(inspection.context, inspection.now, checks)
}

async function mend(inspection: Inspection): Promise<Map<CheckName, readonly Finding[]>> {
  const mended = new Map<CheckName, readonly Finding[]>()
  for (const { check, mend } of [...mending, ...inspection.context.checks]) {
    const done = (await mend?.(inspection)) ?? []
    if (done.length > 0) mended.set(check, done)
  }
  return mended
}

function withMended(found: Diagnosis, mended: ReadonlyMap<CheckName, readonly Finding[]>): Diagnosis {
  const checks = found.checks.map((check) => {
    return listed({ ...check, findings: [...(mended.get(check.check) ?? []), ...check.findings] })
  })
  return { ...found, checks }
}

function diagnosisOf({ store }: Pick<OperationContext, 'store'>, at: number, checks: readonly Check[]): Diagnosis {
  return { ok: checks.every(({ state }) => state !== 'wrong'), at, store: store.place, checks }
}

function checkOf(check: CheckName, { says, findings = [] }: Seen): Check {
  const states = new Set(findings.map(({ state }) => state))
  const state = states.has('wrong') ? 'wrong' : states.has('note') ? 'note' : 'ok'
  const worstFirst = findings.toSorted((a, b) => Number(b.state === 'wrong') - Number(a.state === 'wrong'))
  return listed({ check, state, says, findings: worstFirst, more: 0 })
}

function listed(check: Check): Check {
  const { findings, more } = check
  return { ...check, findings: findings.slice(0, findingsMax), more: more + Math.max(0, findings.length - findingsMax) }
}

/** The diagnosis of a store that could not be opened, or went away. */
export function diagnosisOfRefusal(error: BelfryError, { store, at }: Pick<Diagnosis, 'store' | 'at'>): Diagnosis {
  const { message, hint, details = {} } = error
  const told = 'found' in details ? 'schema' : 'settings' in details ? 'durability' : 'store'
  const check = isDamage(error) ? 'integrity' : told
  const finding = wrong(store, message, hint ?? 'Correct what the message names, and run doctor again.')
  return { ok: false, at, store, checks: [checkOf(check, { says: message, findings: [finding] })] }
}
