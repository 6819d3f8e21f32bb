import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import type { ConfigSection, EntryWritten } from '../../../operations/config-section.ts'
import { openInput, withAdded } from '../../../operations/fields/added-fields.ts'
import { scheduleName } from '../../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../../operations/fields/field-changes.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { read } from '../../../operations/input/read-input.ts'
import { readSchedule } from '../../../operations/schedule/read-schedule.ts'
import { definitionOf } from '../../../operations/schedule/schedule-answer.ts'
import { scheduleInWords } from '../../../operations/schedule/schedule-in-words.ts'
import { scheduleShape } from '../../../operations/schedule/schedule-input.ts'
import { problemsOf } from '../../../operations/schedule/schedule-problems.ts'
import { absentIn } from '../../../operations/target/target-input.ts'
import { refuseManaged } from '../../../store/managed.ts'
import { schedulesNamed } from '../../../store/reads/find-schedule.ts'
import { deleteSchedule } from '../../../store/schedules/delete-schedule.ts'
import { putSchedule } from '../../../store/schedules/put-schedule.ts'
import { lockNamedSchedule } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, run } from '../../../store/statement.ts'

const findKept = both(
  'config find schedules',
  'select name, spec from belfry.schedule where ns = $1 and managed_by = $2 and deleted_at is null order by name',
)
const manage = both(
  'config manage schedule',
  'update belfry.schedule set managed_by = $3 where ns = $1 and name = $2 and deleted_at is null',
)

export interface ScheduleApplied {
  readonly name: string
  readonly answer: 'created' | 'updated' | 'unchanged' | 'deleted'
  readonly before: ScheduleSpec | null
  readonly after: ScheduleSpec | null
  /** Whether it was created by hand, and is managed by the file from now on. */
  readonly isTakenOver?: true
}

export interface ScheduleWritten extends EntryWritten {
  readonly answer: ScheduleApplied['answer']
  /** The schedule in words; `null` when it was deleted. */
  readonly inWords: string | null
}

const form = openInput('schedule', scheduleShape)

export const schedules: ConfigSection<ScheduleSpec, ScheduleApplied> = {
  name: 'schedules',
  says: 'Schedules by name, each with the fields of schedule create.',
  names: scheduleName,
  locks: 'schedules',
  deletes: true,
  async reader(context, names) {
    const now = await context.store.look(clockNow)
    const known = await context.store.look(schedulesNamed, names)
    const specs = new Map(known.map(({ spec }) => [spec.name, spec]))
    return (name, given, problems) => {
      const { value, problems: found, given: raw } = read(withAdded(form, context.fields), given ?? {}, 'a schedule')
      const before = specs.get(name)
      // The time zone is resolved once and stored: applying the file on another machine does not move the schedule.
      const zone = before?.timing.cron === undefined ? context.zone : before.timing.zone
      const reading = { given: { ...raw, name }, value: { ...value, name }, problems: found }
      const spec = readSchedule(reading, { ...context, zone })
      problems.push(...problemsOf(spec, { now, before }))
      return spec.spec
    }
  },
  absent: (given, context) => absentIn((given as { readonly target?: unknown } | null)?.target, context),
  placed: (entries) => Object.fromEntries(entries.map(({ name, target }) => [name, target])),
  *kept({ ns }, source) {
    const rows = yield* all<{ name: string; spec: string }>(findKept, ns, source)
    // A task belongs to another section.
    return rows.filter(({ spec }) => (JSON.parse(spec) as ScheduleSpec).task === undefined).map(({ name }) => name)
  },
  *apply({ context, source, actor, adopt }, spec) {
    const { name } = spec
    const found = yield* lockNamedSchedule(context, name)
    refuseManaged({ noun: 'schedule', name, managedBy: found?.managedBy ?? null }, source)
    const { answer, schedule } = yield* putSchedule(context, spec, { mode: 'put', actor, source, adopt })
    yield* run(manage, context.ns, name, source)
    const word = answer === 'created' || answer === 'updated' ? answer : 'unchanged'
    const taken = found?.managedBy === null ? { isTakenOver: true as const } : {}
    return { name, answer: word, before: found?.spec ?? null, after: schedule.spec, ...taken }
  },
  *leave({ context, source, actor }, name) {
    const found = yield* lockNamedSchedule(context, name)
    if ((yield* deleteSchedule(context, name, { actor, source })) === 'not-found') return null
    return { name, answer: 'deleted', before: found?.spec ?? null, after: null }
  },
  written: ({ name, answer, before, after }, { fields, kinds }): ScheduleWritten => ({
    name,
    answer,
    changes: answer === 'updated' ? fieldChanges(saidOf(before), saidOf(after)) : [],
    inWords: after === null ? null : scheduleInWords(definitionOf(after), kinds, fields.schedule),
  }),
  notes: (applied) =>
    applied
      .filter(({ isTakenOver }) => isTakenOver === true)
      .map(
        ({ name }) =>
          `Schedule ${name} was created by hand: the file manages it now, and deletes it once the file no longer names it.`,
      ),
}

/** The fields of a schedule, with instants as text. */
function saidOf(spec: ScheduleSpec | null): object {
  if (spec === null) return {}
  const { at, startAt, endAt, ...rest } = definitionOf(spec)
  const instants = Object.entries({ at, startAt, endAt }).flatMap(([field, ms]) =>
    ms === undefined ? [] : [[field, isoText(ms)] as const],
  )
  return { ...rest, ...Object.fromEntries(instants) }
}
