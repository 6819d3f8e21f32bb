import { z } from 'zod'
import type { AddedType } from '../../core/added.ts'
import type { Target } from '../../core/target.ts'
import type { AddedField, AddedFieldContext } from '../../operations/fields/added-fields.ts'
import { calendarUses } from '../../operations/fields/calendar-uses.ts'
import { noteSizes } from '../../operations/fields/payload-size.ts'
import { outputOf } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import type { Column } from '../../operations/show.ts'
import { targetStored } from '../../operations/target/target-form.ts'
import { targetInWords } from '../../operations/target/target-in-words.ts'
import { offeredKinds, type PartReceivers, targetOf } from '../../operations/target/target-input.ts'
import type { CommandTarget } from '../../targets/command/command-target.ts'
import type { HttpTarget } from '../../targets/http/http-target.ts'
import type { TargetKind } from '../../targets/kind.ts'
import type { Notify, NotifyPatch } from './notice.ts'
import { type FieldAt, fieldsAt, type NotifyField, receivers } from './notice-events.ts'

/** What sends a notification: a request, a program, or what parts add. */
export type ReceiverInput = CommandTarget | HttpTarget | PartReceivers[keyof PartReceivers]

type ReceiverTypes<Field extends NotifyField> = { readonly [Name in Field]: AddedType<Target, ReceiverInput> }

declare module '../../core/added.ts' {
  interface AddedToSchedule extends ReceiverTypes<FieldAt<'work' | 'schedule'>> {
    readonly urgent: AddedType<boolean>
  }
  interface AddedToQueue extends ReceiverTypes<FieldAt<'work'>> {
    readonly urgent: AddedType<boolean>
  }
}

/** The forms of a receiver. A handler is code of one program, which may be what is broken. */
function receiverForm(kinds: readonly TargetKind[]): z.ZodType {
  const forms = offeredKinds(kinds).flatMap(({ message }) => (typeof message === 'object' ? [message.form] : []))
  const says = 'A target that sends a notification; it receives the notification as its payload.'
  return noted(z.union(forms).describe(says), { id: 'NoticeTarget' })
}

/** A receiver is judged by the kind it names, as targets are. */
function given(says: string): z.ZodType<unknown, ReceiverInput> {
  const expected = 'an object, such as {"http":{"url":"https://example.org/hook"}}'
  const field = z.unknown().refine((value) => value !== null)
  return noted(field, { form: receiverForm, isTarget: true, expected }).describe(says) as unknown as z.ZodType<
    unknown,
    ReceiverInput
  >
}

function mapped<Field extends NotifyField, Made>(fields: readonly Field[], make: (field: Field) => Made) {
  return Object.fromEntries(fields.map((field) => [field, make(field)])) as Record<Field, Made>
}

function receiverField(field: NotifyField): AddedField {
  return {
    input: given(receivers[field].says),
    output: targetStored,
    read: receiverOf,
    inWords: (target: Target, kinds) => targetInWords(target, kinds),
    clause: receivers[field].clause,
  }
}

const urgent: AddedField = {
  input: z.boolean().describe('Send its notifications in quiet hours too. Default: false.'),
  clause: 'its notifications are sent in quiet hours too:',
}

/** What is added to a schedule and to the policy of a queue: receivers, and whether quiet hours count. */
export const scheduleFields = { ...mapped(fieldsAt('work', 'schedule'), receiverField), urgent }
export const queueFields = { ...mapped(fieldsAt('work'), receiverField), urgent }

const ofNamespace = fieldsAt('work', 'namespace')

const quietSays =
  'Hold notifications back while one of these calendars is open, and send one with their count afterwards.'

/** The receivers of the namespace, as input and as output. */
export const notifyShape = {
  ...mapped(ofNamespace, (field) => given(receivers[field].says).optional()),
  quiet: calendarUses.describe(`${quietSays} !NAME: while it is closed.`).optional(),
}
export const notifyAnswered = noted(
  outputOf<Notify>()(
    z
      .strictObject({
        ...mapped(ofNamespace, (field) => targetStored.describe(receivers[field].says).optional()),
        quiet: z.array(z.string()).readonly().describe(quietSays).optional(),
      })
      .describe('Notification targets by event, and the hours in which notifications are held back.'),
  ),
  { id: 'Notify' },
)

/** The target of each event, labelled by its flag. */
export const notifyFacts: readonly Column<Notify>[] = [
  ...ofNamespace.map(
    (field): Column<Notify> => [
      field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      ({ [field]: target }, { kinds }) => (target === undefined ? null : targetInWords(target, kinds)),
    ],
  ),
  ['quiet', ({ quiet }) => (quiet === undefined ? null : `while open: ${quiet.join(', ')}`)],
]

/** Reads a receiver and reports everything that is wrong with it. */
function receiverOf(value: unknown, { problems, ...place }: AddedFieldContext): Target | undefined {
  const { target, problems: found } = targetOf(value, { ...place, sends: 'notifications' })
  problems.push(...found)
  noteSizes({ [place.field]: target ?? undefined }, problems, [place.field])
  return target ?? undefined
}

/** Reads a change of the receivers of a namespace. `null` removes one. */
export function notifyPatchOf(
  patch: Readonly<Record<string, unknown>>,
  place: Omit<AddedFieldContext, 'field'>,
): NotifyPatch {
  const read = (field: NotifyField) => (patch[field] === null ? null : receiverOf(patch[field], { ...place, field }))
  const targets = ofNamespace.map((field) => [field, read(field)]).filter(([, target]) => target !== undefined)
  const { quiet } = patch as NotifyPatch
  return { ...Object.fromEntries(targets), ...(quiet !== undefined && { quiet }) }
}
