import { z } from 'zod'
import { type Notify, type NotifyField, type NotifyPatch, notifyFields } from '../../core/notice.ts'
import type { Target } from '../../core/target.ts'
import type { CommandTarget } from '../../targets/command/command-target.ts'
import type { HttpTarget } from '../../targets/http/http-target.ts'
import { isShown, type Problem } from '../input/refuse-input.ts'
import type { Reader } from '../operation-context.ts'
import { outputOf } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { Column } from '../show.ts'
import { noticeTargetForm, targetStored } from '../target/target-form.ts'
import { targetInWords } from '../target/target-in-words.ts'
import { offeredKinds, targetOf } from '../target/target-input.ts'

/** What can tell somebody: a request, or a program. */
export type NoticeTargetInput = CommandTarget | HttpTarget

/** Looked at by the kind it names, as targets are. */
const told = (says: string) => {
  const expected = 'an object, such as {"http":{"url":"https://example.org/hook"}}'
  const field = noted(z.unknown(), { form: noticeTargetForm, isTarget: true, expected }).describe(says)
  return (field as unknown as z.ZodType<unknown, NoticeTargetInput>).optional()
}

/** Where somebody is told of what, as a schedule, a queue and a whole namespace say it alike. */
export const notifyShape = {
  onFailure: told('What tells somebody that a run has failed for good: {notice kinds}.'),
  onPark: told('What tells somebody that a run was parked, and waits for a person.'),
  onRecover: told('What tells somebody that a schedule which had failed, or was overdue, is well again.'),
  onOverdue: told('What tells somebody that a schedule should have started something five minutes ago, and has not.'),
} satisfies Readonly<Record<NotifyField, z.ZodType>>

const said = (says: string) => targetStored.describe(says).optional()

/** The same as it is answered. */
export const notifySchema = {
  onFailure: said('What tells somebody that a run has failed for good.'),
  onPark: said('What tells somebody that a run was parked.'),
  onRecover: said('What tells somebody that a schedule is well again.'),
  onOverdue: said('What tells somebody that a schedule is overdue.'),
} satisfies Readonly<Record<NotifyField, z.ZodType>>

export const notifyAnswered = noted(
  outputOf<Notify>()(z.strictObject(notifySchema).describe('Where somebody is told of what.')),
  { id: 'Notify' },
)

export const notifyNames = Object.keys(notifyFields) as NotifyField[]

interface NotifyContext extends Reader {
  readonly problems: Problem[]
}

/** Reads where notifications go, as far as it is given. `null` is kept where it takes something away. */
export function notifyPatchOf(given: Readonly<Record<string, unknown>>, place: NotifyContext): NotifyPatch {
  const patch: Partial<Record<NotifyField, Target | null>> = {}
  for (const field of notifyNames) {
    const { target, problems } = targetOf(given[field], { ...place, field, isNotice: true })
    for (const problem of problems) place.problems.push(problem)
    if (target !== undefined) patch[field] = target
  }
  return patch
}

/** The whole of what a schedule says: a `null` takes nothing away where there is nothing before. */
export function notifyOf(given: Readonly<Record<string, unknown>>, place: NotifyContext): Notify | undefined {
  const patch = notifyPatchOf(given, place)
  for (const field of notifyNames) {
    if (patch[field] !== null) continue
    const names = offeredKinds(place.kinds, { isNotice: true }).map(({ name }) => name)
    place.problems.push({ field, problem: isShown(null), expected: `an object with one of ${names.join(', ')}` })
  }
  return wholeNotify(undefined, patch)
}

/** What was said before, changed; absent where nothing is said any more. */
export function wholeNotify(before: Notify | undefined, patch: NotifyPatch): Notify | undefined {
  const fields = Object.entries({ ...before, ...patch }).filter(([, target]) => target !== null && target !== undefined)
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as Notify)
}

/** Which target is started on what, by the flags that say it. */
export const notifyFacts: readonly Column<Notify>[] = notifyNames.map((field) => [
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  ({ [field]: target }, { kinds }) => (target === undefined ? null : targetInWords(target, kinds)),
])
