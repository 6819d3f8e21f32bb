import type { FileCondition } from '../../../store/health-views.ts'
import type { Finding } from '../diagnosis.ts'
import { counted, fixCommand, fixed, type HealthCheck, note, type Seen, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

const pruneLimit = 500
const pruneStepsMax = 200
/** A file of this size is read in well under a second. */
export const readBytesMax = 64 * 1024 * 1024

export const store: HealthCheck = {
  check: 'store',
  says: 'Whether the store answers, its version and its size. Wrong: it does not answer, or a SQLite file is on a network file system. Noted: the write-ahead log of a SQLite file is over 64 MB.',
  unblocks: 'Do what the finding says. `belfry doctor --fix` and every worker truncate a log that is too long.',
  mends: 'Removes rows that retention no longer keeps and truncates the log.',
  async look({ condition, store: { place } }) {
    const { kind, version, file, isEphemeral } = condition.database
    if (file === null) return { says: `${kind} ${version} answers${isEphemeral ? ', in memory' : ''}.` }
    return {
      says: `${kind} ${version} answers: ${megabytes(file.bytes)} in its file, ${megabytes(file.freeBytes)} of it free, and ${megabytes(file.logBytes)} in its log.`,
      findings: [...networkIn(file, place), ...logIn(file, place)],
    }
  },
  async mend(inspection) {
    const { condition, store } = inspection
    const { file } = condition.database
    const found = file === null ? [] : logIn(file, store.place)
    if (found.length === 0) return []
    const removed = await prune(inspection)
    const after = (await store.condition()).database.file
    const [left] = after === null ? [] : logIn(after, store.place)
    if (left !== undefined) return []
    return found.map((one) => fixed(one, `The log was truncated, after ${counted(removed, 'row')} had been removed.`))
  },
}

function networkIn({ network }: FileCondition, place: string): Finding[] {
  if (network === null) return []
  const says = `The file is on a network file system (${network}), where SQLite can lose data.`
  return [wrong(place, says, 'Stop all workers and move the file to a local disk, or use PostgreSQL.')]
}

function logIn({ logBytes, logBytesMax }: FileCondition, place: string): Finding[] {
  if (logBytes <= logBytesMax) return []
  const says = `The log has grown to ${megabytes(logBytes)}; it should be truncated at ${megabytes(logBytesMax)}.`
  return [note(`${place}-wal`, says, fixCommand)]
}

/** The store truncates its log at the end of a retention round. */
async function prune({ store }: Inspection): Promise<number> {
  let [removed, from] = [0, undefined as string | undefined]
  for (let step = 0; step < pruneStepsMax; step++) {
    const pruned = await store.prune({ limit: pruneLimit, ...(from === undefined ? {} : { from }) })
    removed += pruned.runs + pruned.ledger + pruned.other
    if (pruned.next === null) break
    from = pruned.next
  }
  return removed
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

export const schema: HealthCheck = {
  check: 'schema',
  says: 'Whether this Belfry knows the schema version of the tables. Wrong: it is newer or older.',
  unblocks: 'Newer: install the Belfry that wrote the tables. Older: open the store again, which migrates it.',
  async look({ condition: { schema } }) {
    const { found, known } = schema
    if (found === known) return { says: `The schema has version ${found}, which this Belfry uses.` }
    const says = `The schema has version ${found}, and this Belfry uses version ${known}.`
    const next =
      found > known
        ? 'Install the newer Belfry that wrote the tables; this one would misread them.'
        : 'Open the store again: opening migrates it.'
    return { says, findings: [wrong('schema', says, next)] }
  },
}

export const durability: HealthCheck = {
  check: 'durability',
  says: 'Whether acknowledged writes survive a crash: the journal and the syncs of SQLite, or `fsync`, `synchronous_commit` and `full_page_writes` of PostgreSQL. Wrong: one of them is off. Noted: the store is in memory.',
  unblocks: 'Turn the setting on as the finding says.',
  async look({ condition, store: { place } }) {
    const { risks, isEphemeral } = condition.database
    if (isEphemeral) {
      const says = 'The store is in the memory of this process, and ends with it.'
      return { says, findings: [note(place, says, 'Use a file, such as sqlite:./.belfry/belfry.db, or PostgreSQL.')] }
    }
    if (risks.length === 0) return { says: 'Every commit is on the disk before it is acknowledged.' }
    return {
      says: 'A crash may lose work that was acknowledged.',
      findings: risks.map(({ setting, is, mend }) => {
        return wrong(setting, `${setting} is ${is}: a crash may lose work that was acknowledged.`, mend)
      }),
    }
  },
}

export const integrity: HealthCheck = {
  check: 'integrity',
  says: 'Whether a SQLite file is damaged. A file of up to 64 MB is read whole, in its own thread; a larger one only with `--deep`. PostgreSQL checks its own pages.',
  unblocks: 'Keep a copy of the file, then restore it from a backup; starting on it could lose more.',
  async look({ condition, store, isDeep }): Promise<Seen> {
    const { file, kind } = condition.database
    if (file === null) {
      return { says: kind === 'SQLite' ? 'The store has no file.' : `${kind} checks its own pages.` }
    }
    if (file.bytes > readBytesMax && !isDeep) {
      return { says: `The file of ${megabytes(file.bytes)} was not read; belfry doctor --deep reads all of it.` }
    }
    const damage = await store.damage()
    if (damage === null) return { says: 'The whole file was read; it is not damaged.' }
    const says = `The file is damaged: ${damage}.`
    return { says, findings: [wrong(store.place, says, integrity.unblocks)] }
  },
}
