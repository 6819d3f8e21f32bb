import { BelfryError } from '../core/error.ts'
import { lockInOrder } from './apply.ts'
import { writeAudit } from './audit.ts'
import type { ConfigApplied, ConfigOptions, ConfigQueue, ConfigSchedule, ConfigToken, NewConfig } from './change.ts'
import { checkActor, checkText, keyLengthMax, nameLengthMax } from './check.ts'
import type { StoreContext } from './context.ts'
import { lockManaged, refuseManaged } from './managed.ts'
import { setQueue } from './queues/set-queue.ts'
import { findQueue as readQueue } from './reads/queue.ts'
import { scopeSaid } from './reads/token.ts'
import { deleteSchedule } from './schedules/delete-schedule.ts'
import { putSchedule } from './schedules/put-schedule.ts'
import { lockNamedSchedule } from './schedules/schedule-row.ts'
import { all, both, clockNow, one, run, type Step } from './statement.ts'

const claimSource = both(
  'config claim source',
  `insert into belfry.config (ns, source, hash, file, tokens, applied_at, actor, door)
    values ($1, $2, '', '', '{}', 0, '', '') on conflict (ns, source) do nothing`,
)
const saveSource = both(
  'config save source',
  `update belfry.config set hash = $3, file = $4, tokens = $5, applied_at = $6, actor = $7, door = $8
    where ns = $1 and source = $2`,
)
const saveContent = both(
  'config save content',
  `insert into belfry.config_content (ns, source, hash, applied_at) values ($1, $2, $3, $4)
    on conflict (ns, source, hash) do update set applied_at = excluded.applied_at`,
)
const findSchedules = both(
  'config find schedules',
  'select name from belfry.schedule where ns = $1 and managed_by = $2 and deleted_at is null order by name',
)
const findQueues = both(
  'config find queues',
  'select name from belfry.queue where ns = $1 and managed_by = $2 order by name',
)
const findTokens = both(
  'config find tokens',
  'select name, scope from belfry.token where ns = $1 and managed_by = $2 and revoked_at is null order by name',
)
const findToken = both(
  'config find token',
  'select scope, managed_by from belfry.token where ns = $1 and name = $2 and revoked_at is null',
)
const manageSchedule = both(
  'config manage schedule',
  'update belfry.schedule set managed_by = $3 where ns = $1 and name = $2 and deleted_at is null',
)
const manageQueue = both('config manage queue', 'update belfry.queue set managed_by = $3 where ns = $1 and name = $2')
const manageToken = both(
  'config manage token',
  'update belfry.token set managed_by = $3, scope = $4 where ns = $1 and name = $2 and revoked_at is null',
)

interface Applying {
  readonly context: StoreContext
  readonly config: NewConfig
  readonly options: ConfigOptions
}

/**
 * Makes what a source looks after be as its file says, in one transaction. It deletes only what that source made, and only
 * because the file no longer names it: what has been changed in the store since is not a reason to write it again.
 */
export function* applyConfig(context: StoreContext, config: NewConfig, options: ConfigOptions): Step<ConfigApplied> {
  check(config, options)
  const { source } = config
  yield* lockManaged(context)
  yield* run(claimSource, context.ns, source)
  const applying = { context, config, options }
  const deletes = yield* deletesOf(applying)
  const before = (yield* all<{ name: string }>(findQueues, context.ns, source)).map(({ name }) => name)
  // Also those that it no longer names: they are written too, and after the schedules they would be out of order.
  const queues = [...config.queues.map(({ name }) => name), ...before]
  const schedules = [...config.schedules.map(({ name }) => name), ...deletes]
  yield* lockInOrder(context, { queues, schedules })
  const applied = {
    queues: yield* applyQueues(applying, before),
    schedules: [...(yield* applySchedules(applying)), ...(yield* deleteSchedules(applying, deletes))],
    tokens: yield* applyTokens(applying),
  }
  yield* remember(applying, applied)
  return applied
}
applyConfig.rehearses = true as const

function check({ source, hash, placedHash = hash, file }: NewConfig, { actor }: ConfigOptions): void {
  checkText(source, 'source', nameLengthMax)
  checkText(hash, 'hash', keyLengthMax)
  checkText(placedHash, 'placedHash', keyLengthMax)
  checkText(file, 'file', fileLengthMax)
  checkActor(actor)
}

export const fileLengthMax = 4_096

/** What the source made and no longer names. A file that was cut short, or is another's, must not sweep a fleet away. */
function* deletesOf({ context, config, options }: Applying): Step<string[]> {
  const made = (yield* all<{ name: string }>(findSchedules, context.ns, config.source)).map(({ name }) => name)
  const named = new Set(config.schedules.map(({ name }) => name))
  const deletes = made.filter((name) => !named.has(name))
  if (deletes.length * 2 <= made.length || options.yes === true) return deletes
  const those = deletes.length === 1 ? 'the only schedule' : `${deletes.length} of the ${made.length} schedules`
  const which = made.length === 1 ? 'the only schedule' : those
  throw new BelfryError(
    'conflict',
    `It would delete ${which} that source ${config.source} made; nothing was changed.`,
    {
      hint: 'If that is meant: `belfry apply --yes`.',
      details: { source: config.source, deletes: deletes.slice(0, namesMax), of: made.length },
    },
  )
}

const namesMax = 100

function* applyQueues(
  { context, config, options: { actor } }: Applying,
  before: readonly string[],
): Step<ConfigQueue[]> {
  const { ns } = context
  const { source } = config
  const named = new Set(config.queues.map(({ name }) => name))
  const applied: ConfigQueue[] = []
  for (const { name, policy, notify = {} } of config.queues) {
    const known = yield* readQueue(context, name)
    refuseManaged({ noun: 'queue', name, managedBy: known?.managedBy ?? null }, source)
    const answer = yield* setQueue(context, name, { policy, notify, isWhole: true, source, actor })
    yield* run(manageQueue, ns, name, source)
    const word = answer.answer === 'version-differs' ? 'unchanged' : answer.answer
    applied.push({ name, answer: word, before: known, after: answer.queue })
  }
  for (const name of before.filter((name) => !named.has(name))) {
    yield* run(manageQueue, ns, name, null)
    const queue = yield* readQueue(context, name)
    applied.push({ name, answer: 'left', before: queue, after: queue })
  }
  return applied
}

function* applySchedules({ context, config, options }: Applying): Step<ConfigSchedule[]> {
  const { source } = config
  const { actor, adopt = false } = options
  const applied: ConfigSchedule[] = []
  for (const spec of config.schedules) {
    const found = yield* lockNamedSchedule(context, spec.name)
    refuseManaged({ noun: 'schedule', name: spec.name, managedBy: found?.managedBy ?? null }, source)
    const { answer, schedule } = yield* putSchedule(context, spec, { mode: 'put', actor, source, adopt })
    yield* run(manageSchedule, context.ns, spec.name, source)
    const word = answer === 'created' || answer === 'updated' ? answer : 'unchanged'
    const taken = found?.managedBy === null ? { isTakenOver: true as const } : {}
    applied.push({ name: spec.name, answer: word, before: found?.spec ?? null, after: schedule.spec, ...taken })
  }
  return applied
}

function* deleteSchedules({ context, config, options }: Applying, names: readonly string[]): Step<ConfigSchedule[]> {
  const { source } = config
  const deleted: ConfigSchedule[] = []
  for (const name of names) {
    const found = yield* lockNamedSchedule(context, name)
    if ((yield* deleteSchedule(context, name, { actor: options.actor, source })) === 'not-found') continue
    deleted.push({ name, answer: 'deleted', before: found?.spec ?? null, after: null })
  }
  return deleted
}

/** A file makes no tokens, since it would have to say their secrets; it says what they may do. */
function* applyTokens({ context, config, options: { actor } }: Applying): Step<ConfigToken[]> {
  const { ns } = context
  const { source } = config
  const before = yield* all<{ name: string; scope: string }>(findTokens, ns, source)
  const named = new Set(config.tokens.map(({ name }) => name))
  const applied: ConfigToken[] = []
  for (const { name, scope } of config.tokens) {
    const found = yield* one<{ scope: string; managed_by: string | null }>(findToken, ns, name)
    // Also where nobody has made it yet: whoever does must know whose word holds.
    const said = yield* scopeSaid(context, name)
    refuseManaged({ noun: 'token', name, managedBy: found?.managed_by ?? said?.source ?? null }, source)
    const was = found?.scope ?? null
    if (found !== undefined) yield* run(manageToken, ns, name, source, scope)
    if (was !== null && was !== scope) {
      const change = { actor, verb: 'token.update', subject: `token ${name}`, detail: { scope, was, source } }
      yield* writeAudit(context, change, yield* clockNow())
    }
    applied.push({ name, answer: was === null ? 'absent' : was === scope ? 'unchanged' : 'set', scope, was })
  }
  for (const { name, scope } of before.filter(({ name }) => !named.has(name))) {
    yield* run(manageToken, ns, name, null, scope)
    applied.push({ name, answer: 'left', scope, was: scope })
  }
  return applied
}

function* remember({ context, config, options: { actor } }: Applying, applied: ConfigApplied): Step<void> {
  const { ns } = context
  const { source, hash, placedHash = hash, file, tokens } = config
  const now = yield* clockNow()
  const scopes = JSON.stringify(Object.fromEntries(tokens.map(({ name, scope }) => [name, scope])))
  yield* run(saveSource, ns, source, hash, file, scopes, now, actor.name, actor.door)
  for (const known of new Set([hash, placedHash])) yield* run(saveContent, ns, source, known, now)
  yield* writeAudit(
    context,
    { actor, verb: 'config.apply', subject: `source ${source}`, detail: told(applied, file) },
    now,
  )
}

/** How many of each came to what: what became of each one stands in the lines of its own. */
function told({ queues, schedules, tokens }: ConfigApplied, file: string): object {
  const counts: Record<string, number> = {}
  for (const { answer } of [...queues, ...schedules, ...tokens]) counts[answer] = (counts[answer] ?? 0) + 1
  return { file, ...counts }
}
