import { medianOf } from './figures.mjs'
import { runChild, startChild } from './processes.mjs'

/** What a measure is given: who is present, how much to do, and ways to run things apart from each other. */
export function makeBench({ quick, rounds, places, present, say }) {
  const bench = {
    quick,
    rounds,
    places,
    present,
    say,
    startChild,
    child: runChild,
    /** Runs something in a fresh place, which is gone afterwards. */
    async within(kind, setting, work) {
      const place = await places.open(kind, setting)
      const { leave, ...named } = place
      try {
        return await work(named)
      } finally {
        await leave()
      }
    },
    /**
     * Runs every entry once, then every entry again, until each had its rounds: whatever disturbs the machine for a
     * while disturbs all alike. Answers the rounds and their medians; an entry that fails is left out, with the reason.
     */
    async alternate(module, entries, { once, rounds = bench.rounds } = {}) {
      const rows = entries.map(({ contestant, setting, input, ...told }) => ({
        contestant: contestant.name,
        setting: setting.name,
        ...told,
        rounds: [],
      }))
      const run =
        once ?? (({ contestant, setting, input }, place) => runChild(module, { contestant, place, setting, ...input }))
      for (let round = 0; round < rounds; round++) {
        for (const [index, entry] of entries.entries()) {
          const row = rows[index]
          if (row.failed !== undefined) continue
          say(`round ${round + 1} of ${rounds}: ${row.contestant}, ${row.setting}`)
          try {
            row.rounds.push(await bench.within(entry.contestant.place, entry.setting, (place) => run(entry, place)))
          } catch (error) {
            row.failed = error.message
            say(`${row.contestant} failed: ${error.stack ?? error}`)
          }
        }
      }
      return rows.map((row) => (row.failed === undefined ? { ...row, ...medianOf(row.rounds) } : row))
    },
  }
  return bench
}
