import { BelfryError } from '../../core/error.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { writeAudit } from '../../store/audit/write-audit.ts'
import { checkActor, checkText, keyLengthMax, nameLengthMax } from '../../store/check.ts'
import { lockNamed } from '../../store/lock-named.ts'
import { lockManaged } from '../../store/managed.ts'
import type { Actor } from '../../store/port.ts'
import type { AppliedEntry, Applying, KeptSection } from '../../store/section.ts'
import { both, clockNow, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { sectionsWith } from './config-document.ts'
import { fileLengthMax } from './read-configs.ts'
import type { QueueApplied, QueueEntry } from './sections/queues-section.ts'
import type { ScheduleApplied } from './sections/schedules-section.ts'
import type { TokenApplied, TokenEntry } from './sections/token-scopes-section.ts'

const claimSource = both(
  'config claim source',
  `insert into belfry.config (ns, source, hash, file, tokens, applied_at, actor, door)
    values ($1, $2, '', '', '{}', 0, '', '') on conflict (ns, source) do nothing`,
)
const saveSource = both(
  'config save source',
  `update belfry.config set hash = $3, file = $4, applied_at = $5, actor = $6, door = $7
    where ns = $1 and source = $2`,
)
const saveContent = both(
  'config save content',
  `insert into belfry.config_content (ns, source, hash, applied_at) values ($1, $2, $3, $4)
    on conflict (ns, source, hash) do update set applied_at = excluded.applied_at`,
)

/** The validated content of a file: its identity, and the entries of each section by name. */
export interface NewConfig {
  readonly source: string
  /** The hash of the text. */
  readonly hash: string
  /** The hash of the text with its resolved programs: in another folder the same text means other programs. */
  readonly placedHash?: string
  /** The path of the file, shown to people. */
  readonly file: string
  readonly queues: readonly QueueEntry[]
  readonly schedules: readonly ScheduleSpec[]
  readonly tokens: readonly TokenEntry[]
}

export interface ConfigOptions {
  readonly actor: Actor
  /** Whether it may delete more than half of what its source created. */
  readonly yes?: boolean
  /** Whether it takes over schedules with other fields that no file manages. */
  readonly adopt?: boolean
}

export interface ConfigApplied {
  readonly queues: readonly QueueApplied[]
  readonly schedules: readonly ScheduleApplied[]
  readonly tokens: readonly TokenApplied[]
}

interface Entry {
  readonly name: string
}

/** A section: the entries of the file, and the names that its source manages but the file no longer has. */
interface Turn {
  readonly section: KeptSection<Entry, AppliedEntry>
  readonly entries: readonly Entry[]
  readonly gone: readonly string[]
}

/** Applies the content of a source in one transaction. It deletes only what that source created, and only because the file no longer names it; changes in the store since are no reason to write again. */
export function* applyConfig(
  context: StoreContext,
  config: NewConfig,
  options: ConfigOptions,
  sections: readonly KeptSection<Entry, AppliedEntry>[] = sectionsWith([]),
): Step<ConfigApplied> {
  check(config, options)
  const { source } = config
  yield* lockManaged(context)
  yield* run(claimSource, context.ns, source)
  const turns: Turn[] = []
  for (const section of sections) turns.push(yield* turnOf(context, section, { config, options }))
  yield* lockNamed(context, { queues: lockedBy('queues', turns), schedules: lockedBy('schedules', turns) })
  const applying = { context, source, actor: options.actor, adopt: options.adopt ?? false }
  const applied = new Map<string, AppliedEntry[]>()
  for (const turn of turns) applied.set(turn.section.name, yield* applyEntries(applying, turn))
  // Deletes in reverse order: an entry is deleted only after the entries that name it.
  for (const turn of turns.toReversed()) applied.get(turn.section.name)?.push(...(yield* leaveEntries(applying, turn)))
  yield* remember(applying, config, [...applied.values()].flat())
  return Object.fromEntries(applied) as unknown as ConfigApplied
}
applyConfig.rehearses = true as const

function check({ source, hash, placedHash = hash, file }: NewConfig, { actor }: ConfigOptions): void {
  checkText(source, 'source', nameLengthMax)
  checkText(hash, 'hash', keyLengthMax)
  checkText(placedHash, 'placedHash', keyLengthMax)
  checkText(file, 'file', fileLengthMax)
  checkActor(actor)
}

const namesMax = 100

/** The work in a section. A file that was truncated, or is the wrong one, must not delete most of what its source created. */
function* turnOf(
  context: StoreContext,
  section: Turn['section'],
  { config, options }: { readonly config: NewConfig; readonly options: ConfigOptions },
): Step<Turn> {
  const { source } = config
  const entries = (config as unknown as Readonly<Record<string, readonly Entry[] | undefined>>)[section.name] ?? []
  const named = new Set(entries.map(({ name }) => name))
  const kept = yield* section.kept(context, source)
  const gone = kept.filter((name) => !named.has(name))
  if (section.deletes !== true || gone.length * 2 <= kept.length || options.yes === true)
    return { section, entries, gone }
  const noun = section.name.replace(/s$/, '')
  const which = kept.length === 1 ? `the only ${noun}` : `${gone.length} of the ${kept.length} ${section.name}`
  throw new BelfryError('conflict', `It would delete ${which} that source ${source} created; nothing was changed.`, {
    hint: 'To delete them: `belfry apply --yes`.',
    details: { source, deletes: gone.slice(0, namesMax), of: kept.length },
  })
}

/** Includes entries that the file no longer names: they are written too, and locking them later would break the lock order. */
function lockedBy(locks: 'queues' | 'schedules', turns: readonly Turn[]): string[] {
  return turns
    .filter(({ section }) => section.locks === locks)
    .flatMap(({ entries, gone }) => [...entries.map(({ name }) => name), ...gone])
}

function* applyEntries(applying: Applying, { section, entries }: Turn): Step<AppliedEntry[]> {
  const applied: AppliedEntry[] = []
  for (const entry of entries) applied.push(yield* section.apply(applying, entry))
  if (section.remember !== undefined) yield* section.remember(applying, entries)
  return applied
}

function* leaveEntries(applying: Applying, { section, gone }: Turn): Step<AppliedEntry[]> {
  const left: AppliedEntry[] = []
  for (const name of gone) {
    const came = yield* section.leave(applying, name)
    if (came !== null) left.push(came)
  }
  return left
}

function* remember(
  { context, source, actor }: Applying,
  { hash, placedHash = hash, file }: NewConfig,
  applied: readonly AppliedEntry[],
): Step<void> {
  const { ns } = context
  const now = yield* clockNow()
  yield* run(saveSource, ns, source, hash, file, now, actor.name, actor.door)
  for (const known of new Set([hash, placedHash])) yield* run(saveContent, ns, source, known, now)
  // Counts only: each entry has its own audit line.
  const detail: Record<string, number | string> = { file }
  for (const { answer } of applied) detail[answer] = Number(detail[answer] ?? 0) + 1
  yield* writeAudit(context, { actor, verb: 'config.apply', subject: `source ${source}`, detail }, now)
}
