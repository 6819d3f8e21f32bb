import { z } from 'zod'
import { type Notify, type NotifyField, noticeKinds, notifyFields } from '../core/notice.ts'
import type { Target } from '../core/target.ts'
import type { NotifyPatch } from '../store/notice-steps.ts'
import type { CommandTarget } from '../targets/command/input.ts'
import type { HttpTarget } from '../targets/http/input.ts'
import { noted } from './note.ts'
import { outputOf } from './output.ts'
import { isShown, type Problem } from './problem.ts'
import { noticeTargetForm, targetStored } from './target-form.ts'
import { targetOf } from './target-input.ts'

/** What can tell somebody: a request, or a program. */
export type NoticeTargetInput = CommandTarget | HttpTarget

/** Looked at by the kind it names, as targets are. */
const told = (says: string) => {
  const expected = 'an object, such as {"http":{"url":"https://example.org/hook"}}'
  const field = noted(z.unknown(), { form: noticeTargetForm, expected }).describe(says)
  return (field as unknown as z.ZodType<unknown, NoticeTargetInput>).optional()
}

/** Where somebody is told of what, as a schedule, a queue and a whole namespace say it alike. */
export const notifyShape = {
  onFailure: told('What tells somebody that a run has failed for good: an HTTP request or a command.'),
  onPark: told('What tells somebody that a run was parked, and waits for a person.'),
  onRecover: told('What tells somebody that a schedule which had failed, or was overdue, is well again.'),
  onOverdue: told('What tells somebody that a schedule should have started something five minutes ago, and has not.'),
} satisfies Readonly<Record<NotifyField, z.ZodType>>

const said = (says: string) => targetStored.describe(says).optional()

/** The same as it is answered. */
export const notifySaid = {
  onFailure: said('What tells somebody that a run has failed for good.'),
  onPark: said('What tells somebody that a run was parked.'),
  onRecover: said('What tells somebody that a schedule is well again.'),
  onOverdue: said('What tells somebody that a schedule is overdue.'),
} satisfies Readonly<Record<NotifyField, z.ZodType>>

export const notifyAnswered = noted(
  outputOf<Notify>()(z.strictObject(notifySaid).describe('Where somebody is told of what.')),
  { id: 'Notify' },
)

export const notifyNames = Object.keys(notifyFields) as NotifyField[]

/** Reads where somebody is told, as far as it is given. `null` is kept where it takes something away. */
export function notifyPatchOf(
  given: Readonly<Record<string, unknown>>,
  { folder, problems }: { readonly folder: string; readonly problems: Problem[] },
): NotifyPatch {
  const patch: Partial<Record<NotifyField, Target | null>> = {}
  for (const field of notifyNames) {
    const value = given[field]
    if (value === undefined) continue
    if (value === null) patch[field] = null
    else {
      const target = noticeTargetOf(field, value, folder, problems)
      if (target !== undefined) patch[field] = target
    }
  }
  return patch
}

function noticeTargetOf(field: string, given: unknown, folder: string, problems: Problem[]): Target | undefined {
  if (typeof given === 'object' && given !== null && 'handler' in given) {
    const problem = 'is a handler, which is code of one program, and that may be what is broken'
    problems.push({ field, problem, expected: `an object with one of ${noticeKinds.join(', ')}` })
    return undefined
  }
  const { target, problems: found } = targetOf(given, { folder, field, allowed: noticeKinds, isNotice: true })
  for (const problem of found) problems.push(problem)
  return target === undefined || target === null ? undefined : withMethod(target)
}

/** A notice is sent to be read, and only a method that asks for a body carries it. */
function withMethod(target: Target): Target {
  const { http } = target as { readonly http?: { readonly method?: string } }
  return http === undefined || http.method !== undefined ? target : { ...target, http: { ...http, method: 'POST' } }
}

/** The whole of what a schedule says: a `null` takes nothing away where there is nothing before. */
export function notifyOf(
  given: Readonly<Record<string, unknown>>,
  { folder, problems }: { readonly folder: string; readonly problems: Problem[] },
): Notify | undefined {
  const patch = notifyPatchOf(given, { folder, problems })
  for (const field of notifyNames) {
    if (patch[field] !== null) continue
    problems.push({ field, problem: isShown(null), expected: `an object with one of ${noticeKinds.join(', ')}` })
  }
  return wholeNotify(undefined, patch)
}

/** What was said before, changed; absent where nothing is said any more. */
export function wholeNotify(before: Notify | undefined, patch: NotifyPatch): Notify | undefined {
  const fields = Object.entries({ ...before, ...patch }).filter(([, target]) => target !== null && target !== undefined)
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as Notify)
}
