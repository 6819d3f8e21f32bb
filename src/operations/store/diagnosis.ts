import { z } from 'zod'
import { type AnswerOf, advice, count, flag, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

/** The checks, in the order in which they are reported. */
export const checkNames = [
  'store',
  'schema',
  'durability',
  'integrity',
  'clock',
  'listeners',
  'workers',
  'stuck',
  'overdue',
  'chain',
  'no-worker',
  'handlers',
  'queues',
  'failing',
  'broken',
] as const
/** A check of the kernel or of a part. */
export type CheckName = (typeof checkNames)[number] | (string & {})

const finding = z.strictObject({
  subject: text('The subject: a run, a schedule, a setting.'),
  state: z.enum(['note', 'wrong']).describe('Whether this is wrong, or only worth knowing.'),
  says: advice('What was found.'),
  next: advice('What to do, as a command where there is one; null when it is fixed.').nullable(),
  fixed: text('What the fix did; a fixed finding no longer counts.').optional(),
})

export type Finding = AnswerOf<typeof finding>

const check = z.strictObject({
  check: z.string().describe(`The check: ${checkNames.join(', ')}, or a check of a part.`),
  state: z.enum(['ok', 'note', 'wrong']).describe('The status of the worst finding that is not fixed.'),
  says: advice('The result in one sentence.'),
  findings: z.array(finding).describe('The findings, the worst first, at most 20.'),
  more: count('How many findings are not listed.'),
})

export type Check = AnswerOf<typeof check>

const diagnosisShape = z
  .strictObject({
    ok: flag('Whether nothing is wrong; a note may be intended.'),
    at: instantOutput('The instant of the diagnosis, by the store’s clock.'),
    store: text('The store.'),
    checks: z.array(check).describe('The checks.'),
  })
  .describe('The health of a store.')

export type Diagnosis = AnswerOf<typeof diagnosisShape>

export const diagnosis = noted(diagnosisShape, { id: 'Diagnosis', brief: diagnosisBrief })

const findingsShown = 5

function diagnosisBrief({ ok, checks }: Diagnosis): object {
  const found = checks.filter(({ state }) => state !== 'ok')
  return {
    ok,
    checks: found.map(({ check, state, says, findings, more }) => {
      const left = more + Math.max(0, findings.length - findingsShown)
      const shown = findings.slice(0, findingsShown).map(({ subject, state: how, says: what, next, fixed }) => {
        return [`${how}: ${subject}:`, what, fixed ?? next].filter((part) => part !== null).join(' ')
      })
      return { check, state, findings: shown.length === 0 ? [says] : shown, ...(left > 0 && { more: left }) }
    }),
  }
}
