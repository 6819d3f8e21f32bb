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

/** Targets that can send a notification: a request, or a command. */
export type NoticeTargetInput = CommandTarget | HttpTarget

/** Checked by its kind, as targets are. */
const told = (says: string) => {
  const expected = 'an object, such as {"http":{"url":"https://example.org/hook"}}'
  const field = noted(z.unknown(), { form: noticeTargetForm, isTarget: true, expected }).describe(says)
  return (field as unknown as z.ZodType<unknown, NoticeTargetInput>).optional()
}

/** Notification targets by event, for a schedule, a queue or the whole namespace. */
export const notifyShape = {
  onFailure: told('Notify this target when a run has failed for good: {notice kinds}.'),
  onPark: told('Notify this target when a run is parked and needs a person.'),
  onRecover: told('Notify this target when a schedule that failed or was overdue has recovered.'),
  onOverdue: told('Notify this target when a schedule is overdue by five minutes.'),
} satisfies Readonly<Record<NotifyField, z.ZodType>>

const said = (says: string) => targetStored.describe(says).optional()

export const notifySchema = {
  onFailure: said('The target to notify when a run has failed for good.'),
  onPark: said('The target to notify when a run is parked.'),
  onRecover: said('The target to notify when a schedule has recovered.'),
  onOverdue: said('The target to notify when a schedule is overdue.'),
} satisfies Readonly<Record<NotifyField, z.ZodType>>

export const notifyAnswered = noted(
  outputOf<Notify>()(z.strictObject(notifySchema).describe('Notification targets by event.')),
  { id: 'Notify' },
)

export const notifyNames = Object.keys(notifyFields) as NotifyField[]

interface NotifyContext extends Reader {
  readonly problems: Problem[]
}

/** Reads the given notification targets. `null` is kept: it removes one. */
export function notifyPatchOf(given: Readonly<Record<string, unknown>>, place: NotifyContext): NotifyPatch {
  const patch: Partial<Record<NotifyField, Target | null>> = {}
  for (const field of notifyNames) {
    const { target, problems } = targetOf(given[field], { ...place, field, isNotice: true })
    for (const problem of problems) place.problems.push(problem)
    if (target !== undefined) patch[field] = target
  }
  return patch
}

/** The notification targets of a new schedule: `null` is a problem, because there is nothing to remove. */
export function notifyOf(given: Readonly<Record<string, unknown>>, place: NotifyContext): Notify | undefined {
  const patch = notifyPatchOf(given, place)
  for (const field of notifyNames) {
    if (patch[field] !== null) continue
    const names = offeredKinds(place.kinds, { isNotice: true }).map(({ name }) => name)
    place.problems.push({ field, problem: isShown(null), expected: `an object with one of ${names.join(', ')}` })
  }
  return wholeNotify(undefined, patch)
}

/** The previous targets with a change applied; absent when none is left. */
export function wholeNotify(before: Notify | undefined, patch: NotifyPatch): Notify | undefined {
  const fields = Object.entries({ ...before, ...patch }).filter(([, target]) => target !== null && target !== undefined)
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as Notify)
}

/** The target of each event, by flag. */
export const notifyFacts: readonly Column<Notify>[] = notifyNames.map((field) => [
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  ({ [field]: target }, { kinds }) => (target === undefined ? null : targetInWords(target, kinds)),
])
