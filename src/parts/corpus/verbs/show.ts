import type { Changed } from '../../../core/corpus/invalidate.ts'
import { formatDuration } from '../../../core/duration.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { type Facts, indented, type Sheet } from '../../../operations/show.ts'
import { inputInWords } from '../items/changed-in-words.ts'
import type { CorpusAnswer, ItemAnswer } from './corpus-answer.ts'
import type { StatusAnswer } from './corpus-status.ts'
import type { ListAnswer, ScanAnswer, TickAnswer, WrittenAnswer } from './corpus-verbs.ts'
import type { ExplainedAnswer, PreviewAnswer } from './explain-verbs.ts'
import type { SeededAnswer, WholeItem } from './item-verbs.ts'
import type { QueueAnswer, TriggeredAnswer } from './queue-verbs.ts'

const many = (count: number, one: string, more = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`

export function showWritten({ answer, corpus, scan, backlog }: WrittenAnswer, sheet: Sheet): string {
  const { name } = corpus
  const owed = `${many(scan.items, 'item')}, ${many(backlog.phases, 'phase')} owed`
  const pace = `${long(backlog.tickMs)} at one phase every ${formatDuration(backlog.everyMs)}`
  const drained = corpus.drain ? '' : `; with --drain about ${long(backlog.drainMs)}`
  const rest = backlog.phases === 0 ? '' : `: ${pace}${drained}`
  const none =
    corpus.watcher !== undefined
      ? '\n  its watcher is asked by the next tick'
      : scan.items > 0
        ? ''
        : `\n  make items of folders: ${sheet.command('corpus', 'seed', name, '--match', '**/README.md')}`
  return `${answer} corpus ${sheet.paint.bold(plainText(name))}\n  ${owed}${rest}${corpus.root === null ? '' : none}`
}

/** A forecast shows days and hours only. */
function long(ms: number): string {
  const hours = Math.round(ms / 3_600_000)
  if (hours < 1) return `${Math.max(1, Math.round(ms / 60_000))} min`
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

export const showCorpus: Facts<CorpusAnswer> = {
  facts: [
    ['name', 'name', 'name'],
    ['root', ({ root }) => root ?? 'in the store'],
    ['target', 'target', 'target'],
    ['cron', ({ cron, zone }) => `${cron} (${zone})`],
    ['depth weight', ({ depthWeight }) => String(depthWeight)],
    ['watcher', ({ watcher }) => watcher?.url ?? null],
    ['plans every', ({ architectEvery }) => many(architectEvery, 'cycle')],
    ['snapshots', ({ maxArchive }) => `${maxArchive} of an item`],
    ['ignores', ({ ignore }) => (ignore.length === 0 ? null : ignore.join(', '))],
    ['seeds', ({ autoSeed }) => (autoSeed.length === 0 ? null : JSON.stringify(autoSeed))],
    ['prompts', ({ prompts }) => listed(prompts, (file) => file)],
    ['expects', ({ expect }) => (expect === undefined ? null : JSON.stringify(expect))],
    ['targets', ({ targets }) => listed(targets, (target) => JSON.stringify(target))],
    ['their expects', ({ expects = {} }) => listed(expects, (expect) => JSON.stringify(expect))],
    ['phases', ({ phases }) => phases?.map(phaseInWords).join(', ') ?? null],
    ['attempts', 'attempts', 'count'],
    ['propagates after', 'propagateAfterMs', 'duration'],
    ['drain', ({ drain, concurrency }) => (drain ? `${concurrency} at once` : null)],
    ['budget', ({ budget }) => (budget === null ? null : JSON.stringify(budget))],
  ],
}

function listed<One>(byPhase: Readonly<Record<string, One>>, words: (one: One) => string): string | null {
  const entries = Object.entries(byPhase)
  return entries.length === 0 ? null : entries.map(([phase, one]) => `${phase}: ${words(one)}`).join(', ')
}

function phaseInWords({ name, writes, timeoutMs }: NonNullable<CorpusAnswer['phases']>[number]): string {
  return `${name} (${writes.join(', ')}, ${formatDuration(timeoutMs)})`
}

export function showStatus(status: StatusAnswer, sheet: Sheet): string {
  const { name, items, counts, backlog, current, next, problem, watches } = status
  const parts = Object.entries(counts).map(([word, count]) => `${count.toLocaleString('en')} ${word}`)
  const lines = [
    `${sheet.paint.bold(plainText(name))}: ${many(items, 'item')}${parts.length === 0 ? '' : `, ${parts.join(', ')}`}`,
  ]
  if (problem !== null) lines.push(sheet.paint.red(`  its root ${problem}`))
  for (const { host, because } of watches)
    if (because !== null) lines.push(`  ${plainText(host)} polls its tree: ${because}`)
  for (const one of status.watchers) lines.push(watcherLine(one, sheet))
  for (const { path, phase, startedAt } of current)
    lines.push(`  at work: ${phase} of ${plainText(path)}, ${sheet.relative(startedAt)}`)
  if (status.overrides > 0) lines.push(`  triggered: ${status.overrides}`)
  const [first] = next
  if (first !== undefined) lines.push(`  next: ${first.phase} of ${plainText(first.path)}`)
  if (backlog.phases === 0) lines.push('  nothing is owed')
  else {
    const fresh = status.freshAt === null ? '' : `; fresh ${sheet.when(status.freshAt)}`
    const pace = status.drain ? 'one after the other' : `one every ${formatDuration(backlog.everyMs)}`
    lines.push(`  ${many(backlog.phases, 'phase')} owed, ${pace}${fresh}`)
  }
  if (status.held !== null) lines.push(heldLine(status.held, sheet))
  if (status.nextTickAt !== null)
    lines.push(
      `  next tick ${sheet.relative(status.nextTickAt)}${status.idle > 1 ? `; one tick in ${status.idle} looks` : ''}`,
    )
  if (status.paused) lines.push(`  its tick is paused: ${sheet.command('schedule', 'resume', `corpus:${name}`)}`)
  return lines.join('\n')
}

function heldLine({ says, until }: NonNullable<StatusAnswer['held']>, sheet: Sheet): string {
  return sheet.paint.yellow(
    `  no phase starts${until === null ? '' : ` before ${sheet.when(until)}`}: ${sheet.spelled(says)}`,
  )
}

function watcherLine(watcher: StatusAnswer['watchers'][number], sheet: Sheet): string {
  const { host, url, since, registeredAt, error, openUntil } = watcher
  const when = since === null ? '' : `, since ${sheet.relative(since)}`
  if (error === null) {
    const rules = registeredAt === null ? 'it has no rules yet' : `its rules were given ${sheet.relative(registeredAt)}`
    return `  watcher ${plainText(url)} answers ${plainText(host)}${when}; ${rules}`
  }
  const rest = openUntil === null ? '' : `; not asked before ${sheet.when(openUntil)}`
  return sheet.paint.red(
    `  watcher ${plainText(url)} fails for ${plainText(host)}${when}: it ${plainText(error)}${rest}`,
  )
}

export function listShown({ corpora, items }: ListAnswer, sheet: Sheet): string {
  if (items !== undefined) return items.length === 0 ? 'no items' : itemTable(items, sheet)
  if (corpora === undefined || corpora.length === 0) return 'no corpora'
  return sheet.table(
    [
      ['NAME', 'name', 'name'],
      ['ITEMS', 'items', 'count'],
      ['OWED', 'owed', 'count'],
      ['ROOT', ({ root }) => root ?? 'in the store'],
    ],
    corpora,
  )
}

function itemTable(items: readonly ItemAnswer[], sheet: Sheet): string {
  return sheet.table<ItemAnswer>(
    [
      ['PATH', 'path', 'name'],
      ['STATUS', 'status', 'status'],
      ['PHASE', ({ phase }) => phase ?? ''],
      ['GENERATED', ({ generatedAt }) => (generatedAt === null ? 'never' : sheet.relative(generatedAt))],
      ['REASON', ({ reason }) => (reason === null ? '' : plainText(reason).slice(0, 60))],
    ],
    items,
  )
}

export function showScan({ items, looked, come, gone, owed }: ScanAnswer): string {
  return `${many(items, 'item')}: ${looked} looked at, ${come} new, ${gone} gone, ${owed} more owed`
}

export function showTicked({ picked, stages, says }: TickAnswer): string {
  const took = stages.map(({ stage, ms }) => `${stage} ${ms} ms`).join(', ')
  const head =
    picked === null
      ? `nothing was enqueued (${took})`
      : `enqueued ${picked.phase} of ${plainText(picked.path)} as ${picked.run} (${took})`
  return `${head}\n  ${plainText(says)}`
}

export function showItem({ item, content, missingRefs }: WholeItem, sheet: Sheet): string {
  const { path, status, phase, revision } = item
  const head = `${sheet.paint.bold(plainText(path))}: ${status}${phase === null ? '' : `, owes ${phase}`} (revision ${revision})`
  const missing =
    missingRefs.length === 0
      ? ''
      : `\n${sheet.paint.yellow(`  no such item, and nothing is read of it: ${missingRefs.map(plainText).join(', ')}`)}`
  return `${head}${missing}${typeof content === 'string' ? `\n${indented(plainText(content))}` : ''}`
}

export function showSeeded({ seeded, left, dryRun }: SeededAnswer): string {
  const head = `${dryRun ? 'would make' : 'made'} ${many(seeded.length, 'item')}${left > 0 ? `; ${left} more match` : ''}`
  return [head, ...seeded.slice(0, 20).map((path) => `  ${plainText(path)}`)].join('\n')
}

export function showPreview({ path, phase, isOwed, document, wouldLookAgain }: PreviewAnswer): string {
  const head = `${phase} of ${plainText(path)}${isOwed ? '' : ' (nothing is owed)'}`
  const then = wouldLookAgain.length === 0 ? '' : `\nthen looked at again: ${wouldLookAgain.map(plainText).join(', ')}`
  return `${head}\n${JSON.stringify(document, null, 2)}${then}`
}

export function showExplained(
  { item, says, ahead, changed, nextAt, wouldLookAgain }: ExplainedAnswer,
  sheet: Sheet,
): string {
  const lines = [`${sheet.paint.bold(plainText(item.path))}: ${sheet.spelled(says)}`]
  for (const one of ahead) lines.push(`  ahead: ${one.phase} of ${plainText(one.path)}, band ${one.band}`)
  for (const { phase, from, waitsFor, since, ...one } of changed as unknown as (Changed & { since?: number })[]) {
    const before = since === undefined ? '' : ` since ${sheet.when(since)}`
    const later = from === undefined || from <= sheet.now ? '' : `; counts ${sheet.when(from)}`
    const waits = waitsFor === undefined ? later : `; waits for ${plainText(waitsFor)}, which is owed`
    lines.push(`  changed for ${phase}${before}: ${plainText(inputInWords(one))}${waits}`)
  }
  if (nextAt !== null) lines.push(`  ${item.status === 'failed' ? 'tried' : 'looked at'} again ${sheet.when(nextAt)}`)
  if (wouldLookAgain.length > 0) lines.push(`  its content is read by ${wouldLookAgain.map(plainText).join(', ')}`)
  return lines.join('\n')
}

export function showTriggered(
  { status, path, phase, run, created, position, held }: TriggeredAnswer,
  sheet: Sheet,
): string {
  if (status === 'skipped')
    return path === null ? 'nothing is owed' : `nothing is owed of ${plainText(path)}; --force runs it all the same`
  const how = created ? 'enqueued' : 'already in line:'
  const waits = held === null ? '' : `\n${heldLine(held, sheet)}`
  return `${how} ${phase} of ${plainText(path ?? '')} as ${run}${position > 0 ? `, behind ${position}` : ''}${waits}\n  see it: ${sheet.command('run', 'show', run ?? '')}`
}

export function showQueue({ current, overrides, automatic }: QueueAnswer, sheet: Sheet): string {
  const lines = [
    ...current.map(({ path, phase, startedAt }) => [
      'at work',
      phase ?? '',
      plainText(path),
      sheet.relative(startedAt),
    ]),
    ...overrides.map(({ path, phase, enqueuedAt }) => [
      'triggered',
      phase ?? '',
      plainText(path),
      sheet.relative(enqueuedAt),
    ]),
    ...automatic.map(({ path, phase, staleness }) => [
      'ranking',
      phase,
      plainText(path),
      staleness === null ? 'never generated' : `score ${Math.round(staleness).toLocaleString('en')}`,
    ]),
  ]
  return lines.length === 0 ? 'nothing is owed' : sheet.aligned(lines)
}

export function showCleared({ cleared }: { readonly cleared: number }): string {
  return `cancelled ${many(cleared, 'triggered run')}`
}

export function showAborted({
  items,
}: {
  readonly items: readonly { readonly path: string; readonly phase: string }[]
}): string {
  if (items.length === 0) return 'no phase is at work'
  return items.map(({ path, phase }) => `aborted ${phase} of ${plainText(path)}; it is parked`).join('\n')
}

export function showReleased({ released }: { readonly released: readonly string[] }): string {
  return released.length === 0 ? 'nothing was parked' : `released ${released.map(plainText).join(', ')}`
}
