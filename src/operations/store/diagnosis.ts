import { z } from 'zod'
import { advice, count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

/** What is looked at, in the order in which it is told. */
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
/** A check of the kernel, or one that a part brings. */
export type CheckName = (typeof checkNames)[number] | (string & {})

/** Something that was found, and what to do about it. */
export interface Finding {
  /** What it is about: a run, a schedule, a setting. */
  readonly subject: string
  readonly state: 'note' | 'wrong'
  readonly says: string
  /** What to do, as a command where there is one; `null` where it has been mended. */
  readonly next: string | null
  /** What was done about it; it does not count any more. */
  readonly fixed?: string | undefined
}

export interface Check {
  readonly check: CheckName
  /** The worst of what was found and not mended. */
  readonly state: 'ok' | 'note' | 'wrong'
  readonly says: string
  readonly findings: readonly Finding[]
  /** How many findings are not listed. */
  readonly more: number
}

/** How a store is. */
export interface Diagnosis {
  /** Nothing is wrong. What is only noted may be as somebody wants it. */
  readonly ok: boolean
  readonly at: number
  readonly store: string
  readonly checks: readonly Check[]
}

const finding = outputOf<Finding>()(
  z.strictObject({
    subject: text('What it is about: a run, a schedule, a setting.'),
    state: z.enum(['note', 'wrong']).describe('Whether something is wrong, or only worth knowing.'),
    says: advice('What was found.'),
    next: advice('What to do, as a command where there is one; null where it has been mended.').nullable(),
    fixed: text('What was done about it; it does not count any more.').optional(),
  }),
)

const check = outputOf<Check>()(
  z.strictObject({
    check: z.string().describe(`What was looked at: ${checkNames.join(', ')}, or a check of a part.`),
    state: z.enum(['ok', 'note', 'wrong']).describe('The worst of what was found and not mended.'),
    says: advice('What was seen, in one sentence.'),
    findings: z.array(finding).describe('What was found, the worst first, at most 20.'),
    more: count('How many findings are not listed.'),
  }),
)

export const diagnosis = noted(
  outputOf<Diagnosis>()(
    z
      .strictObject({
        ok: flag('Whether nothing is wrong; what is only noted may be as somebody wants it.'),
        at: instantOutput('When it was looked at, by the clock of the store.'),
        store: text('The store.'),
        checks: z.array(check).describe('All that was looked at.'),
      })
      .describe('How a store is.'),
  ),
  { id: 'Diagnosis', brief: diagnosisBrief },
)

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
