import { z } from 'zod'
import { BelfryError, isDamage, isPassing } from '../../core/error.ts'
import type { OperationContext } from '../context.ts'
import { everyDoor, operation } from '../operation.ts'
import { clock } from './checks/clock.ts'
import { config } from './checks/config.ts'
import { durability, integrity, schema, store } from './checks/database.ts'
import { listeners } from './checks/listeners.ts'
import { notices } from './checks/notices.ts'
import { noWorker, queues } from './checks/queues.ts'
import { broken, chain, failing, handlers, overdue } from './checks/schedules.ts'
import { stuck } from './checks/stuck.ts'
import { workers } from './checks/workers.ts'
import { type Examination, failed, findingsMax, type Seen, wrong } from './examination.ts'
import { type Check, type CheckName, type Diagnosis, diagnosis, type Finding } from './output.ts'
import { Patient } from './patient.ts'

/** Everything that is looked at, in the order in which it is told. */
export const examinations: readonly Examination[] = [
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
  notices,
  failing,
  broken,
  config,
]

/** What expired is taken back first: only a worker that holds nothing can be noted as stopped. */
const mending: readonly Examination[] = [stuck, workers, chain, store]

export const doctor = operation({
  noun: 'store',
  verb: 'doctor',
  command: ['doctor'],
  says: 'Looks for everything that may keep work from being done, and with fix mends what is safe to mend.',
  request: 'a look at the health of a store',
  effect: 'write',
  scope: 'operate',
  input: z.strictObject({
    fix: z
      .boolean()
      .describe('Whether what is safe to mend is mended. Default: false; nothing is written then.')
      .optional(),
    deep: z.boolean().describe('Whether a large SQLite file is read whole. Default: false.').optional(),
  }),
  takes: [],
  output: diagnosis,
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}, { fix: true }],
  async run(context, { fix = false, deep = false }) {
    try {
      const patient = await Patient.receive(context, deep)
      const found = await examine(patient)
      // Whatever is written to a damaged file may make it worse.
      const mended = fix && !isDamaged(found) ? await mend(patient) : new Map<CheckName, readonly Finding[]>()
      if (mended.size === 0) return found
      return withMended(await examine(await Patient.receive(context, deep)), mended)
    } catch (error) {
      const refusal = isPassing(error) ? error : await damageBehind(context, error)
      return diagnosisOfRefusal(refusal, { store: context.store.place, at: context.clock.now() })
    }
  },
})

function isDamaged({ checks }: Diagnosis): boolean {
  return checks.some(({ check, state }) => check === 'integrity' && state === 'wrong')
}

/** What no check foresaw may come of damage: rows are missing, or hold what they cannot. Else it is a defect, and is thrown. */
async function damageBehind({ store }: OperationContext, error: unknown): Promise<BelfryError> {
  const damage = await store.damage().catch(() => null)
  if (damage === null) throw error
  const says = `${store.place} is damaged: ${damage}.`
  return new BelfryError('unavailable', says, { hint: integrity.next, details: { damaged: true }, cause: error })
}

async function examine(patient: Patient): Promise<Diagnosis> {
  const checks: Check[] = []
  for (const examination of [...examinations, ...patient.context.checks]) {
    const seen = await examination.look(patient).catch(failed)
    checks.push(checkOf(examination.check, seen))
  }
  return diagnosisOf(patient.context, patient.now, checks)
}

async function mend(patient: Patient): Promise<Map<CheckName, readonly Finding[]>> {
  const mended = new Map<CheckName, readonly Finding[]>()
  for (const { check, mend } of [...mending, ...patient.context.checks]) {
    const done = (await mend?.(patient)) ?? []
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

/** What a store that could not be opened, or went away, says of itself. */
export function diagnosisOfRefusal(error: BelfryError, { store, at }: Pick<Diagnosis, 'store' | 'at'>): Diagnosis {
  const { message, hint, details = {} } = error
  const told = 'found' in details ? 'schema' : 'settings' in details ? 'durability' : 'store'
  const check = isDamage(error) ? 'integrity' : told
  const finding = wrong(store, message, hint ?? 'Mend what it names, and look again.')
  return { ok: false, at, store, checks: [checkOf(check, { says: message, findings: [finding] })] }
}
