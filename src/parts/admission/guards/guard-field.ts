import { z } from 'zod'
import { isRecord } from '../../../core/json/record.ts'
import { type AnswerRules, expectationProblems } from '../../../core/run/expect.ts'
import type { Target } from '../../../core/target.ts'
import type { AddedField, AddedFieldContext } from '../../../operations/fields/added-fields.ts'
import { noteSizes } from '../../../operations/fields/payload-size.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { expectationOf } from '../../../operations/target/expectation-form.ts'
import { targetInWords } from '../../../operations/target/target-in-words.ts'
import { outsideHosts, type TargetInput, targetOf } from '../../../operations/target/target-input.ts'
import type { TargetKind } from '../../../targets/kind.ts'

/** A guard as it is given: a target, and beside it what its answer must be for a yes. */
export type GuardInput = TargetInput & { readonly expect?: AnswerRules | undefined }

/** A guard as it is stored. */
export type Guard = Target & { readonly expect?: AnswerRules }

declare module '../../../core/added.ts' {
  interface AddedToSchedule {
    readonly when: AddedType<Guard, GuardInput>
    readonly until: AddedType<Guard, GuardInput>
    readonly check: AddedType<Guard, GuardInput>
  }
  interface AddedToRun {
    readonly when: AddedType<Guard, GuardInput>
    readonly check: AddedType<Guard, GuardInput>
  }
  interface CopiedToRun {
    readonly until: AddedType<Guard>
  }
}

/** The target of a guard, for its executor. */
export function targetOfGuard({ expect: _, ...target }: Guard): Target {
  return target
}

/** The forms of targets are not repeated here: every model that lists its tools would read them once more. */
function guardForm(kinds: readonly TargetKind[]): z.ZodType {
  const expect = expectationOf(kinds).describe('What the answer must be to count as a yes.').optional()
  return noted(z.looseObject({ expect }).describe('A target, and what its answer must be.'), { id: 'Guard' })
}

function guardField(says: string, clause: string): AddedField {
  const expected = `an object, such as {"command":"test -f ready"} or {"http":{"url":"https://example.org/open"}}`
  const given = z.unknown().refine((value) => value !== null)
  return {
    input: noted(given, { form: guardForm, isTarget: true, isCommandLine: true, expected }).describe(says),
    output: noted(z.record(z.string(), z.unknown()), { form: guardForm }),
    read: readGuard,
    unfit: (_: Guard, { target }) => (target == null ? outsideHosts : null),
    inWords: (guard: Guard, kinds) => targetInWords(targetOfGuard(guard), kinds),
    clause,
  }
}

/** Whether a run may start. */
export const when = guardField(
  'Asked before a run starts; a no (exit code 1, no 2xx status, false) skips it.',
  'starts only when a guard says yes:',
)

/** Whether a schedule is to end. */
export const until: AddedField = {
  ...guardField(
    'Asked after each completed run; a yes (exit code 0, 2xx status, true) ends the schedule.',
    'ends when a guard says yes:',
  ),
  isCopied: true,
}

/** Whether a success is one. */
export const check = guardField(
  'Reads the result; a no fails it.',
  'succeeds only when a check of its result says yes:',
)

/** Reads a guard, and reports everything that is wrong with it. */
function readGuard(value: unknown, { problems, ...place }: AddedFieldContext): Guard | undefined {
  const { expect, ...given } = isRecord(value) ? value : {}
  const { target, kind, problems: found } = targetOf(isRecord(value) ? given : value, place)
  problems.push(...found)
  if (expect !== undefined) {
    for (const problem of expectationProblems(expect, kind)) {
      problems.push({ ...problem, field: `${place.field}.${problem.field}` })
    }
    for (const rule of ['noop', 'usage', 'anomaly']) {
      if (!isRecord(expect) || expect[rule] === undefined) continue
      const field = `${place.field}.expect.${rule}`
      problems.push({ field, problem: 'means nothing for a guard', expected: 'leave it out' })
    }
  }
  if (target == null) return undefined
  const guard = { ...target, ...(expect !== undefined && { expect: expect as AnswerRules }) }
  noteSizes({ [place.field]: guard }, problems, [place.field])
  return guard
}
