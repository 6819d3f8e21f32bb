/**
 * Real faults on real processes: `npm run faults`. See docs/faults.md for what is injected, how it is witnessed, and
 * what counts as a breach.
 */
import { parseArgs } from 'node:util'
import { conditionsSince, writeFigures } from '../../scripts/figures.mjs'
import type { Fault } from './fault.ts'
import { faults } from './kinds/all.ts'
import { type DatabaseKind, openPlace, type Place } from './place.ts'
import { Random } from './random.mjs'
import { type FaultResult, judged, shownLine, shownTable, sum } from './report.ts'
import { playRound, type RoundResult } from './round.ts'

const epsilonMs = 45_000

/** How often each is injected: to see that all is well, and to have figures. */
const times = {
  short: { kills: 100, pauses: 20, others: 10, accounts: 2, stops: 50 },
  full: { kills: 2_000, pauses: 300, others: 40, accounts: 40, stops: 500 },
} as const

interface Options {
  readonly databases: readonly DatabaseKind[]
  readonly only: ReadonlySet<string> | null
  readonly kills: number
  readonly pauses: number
  readonly others: number
  /** Kills among workers that race for one account or one budget, each after 2,500 reservations. */
  readonly accounts: number
  readonly stops: number
  readonly seed: number
  readonly json: string | undefined
}

function optionsOf(words: string[]): Options {
  const { values } = parseArgs({
    args: words,
    options: {
      full: { type: 'boolean', default: false },
      only: { type: 'string' },
      database: { type: 'string' },
      kills: { type: 'string' },
      pauses: { type: 'string' },
      others: { type: 'string' },
      accounts: { type: 'string' },
      stops: { type: 'string' },
      seed: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const usual = values.full ? times.full : times.short
  const database = values.database
  if (database !== undefined && database !== 'sqlite' && database !== 'postgres') {
    throw new Error(`--database is ${database}; it is sqlite or postgres.`)
  }
  return {
    databases: database === undefined ? ['sqlite', 'postgres'] : [database],
    only: values.only === undefined ? null : new Set(values.only.split(',')),
    kills: Number(values.kills ?? usual.kills),
    pauses: Number(values.pauses ?? usual.pauses),
    others: Number(values.others ?? usual.others),
    accounts: Number(values.accounts ?? usual.accounts),
    stops: Number(values.stops ?? usual.stops),
    seed: Number(values.seed ?? Date.now() % 1_000_000),
    json: values.json,
  }
}

/** Kills are shared between those that can be proven and those that cannot. */
function timesOf({ id }: Fault, { kills, pauses, others, accounts, stops }: Options): number {
  if (id === 'F1') return Math.ceil(kills / 2)
  if (id === 'F1r') return Math.floor(kills / 2)
  if (id === 'F30' || id === 'F31') return accounts
  if (id === 'F33') return stops
  // Two minutes.
  if (id === 'F32') return Math.min(others * 3, 100)
  // A point of a phase each: all of them in the full form.
  if (id === 'F34') return Math.min(others * 5, 200)
  return id === 'F11' ? pauses : others
}

/** Plays a fault as often as asked, in rounds, each on a store of its own. */
async function play(fault: Fault, place: Place, options: Options): Promise<FaultResult> {
  const startedAt = Date.now()
  const rounds: RoundResult[] = []
  const wanted = timesOf(fault, options)
  while (sum(rounds, 'injected') < wanted) {
    const left = Math.min(fault.timesPerRound, wanted - sum(rounds, 'injected'))
    const random = new Random(options.seed + rounds.length)
    const round = await playRound(fault, { place, random, times: left, epsilonMs })
    if (typeof round === 'string') return { fault, database: place.kind, skipped: round }
    rounds.push(round)
    for (const { kind, what } of round.breaches.slice(0, 10)) console.log(`  ! ${fault.id} ${kind}: ${what}`)
    // It broke off; to begin anew would be to break off again.
    if (round.injected === 0) break
  }
  return judged({ fault, database: place.kind, rounds, seconds: (Date.now() - startedAt) / 1_000 })
}

async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2))
  const began = new Date()
  console.log(`seed ${options.seed}`)
  const results: FaultResult[] = []
  const versions: Record<string, string> = {}
  for (const database of options.databases) {
    const place = await openPlace(database)
    versions[database] = place.version
    try {
      for (const fault of faults) {
        if (!fault.on.includes(database) || options.only?.has(fault.id) === false) continue
        results.push(await play(fault, place, options))
        console.log(shownLine(results.at(-1) as FaultResult))
      }
    } finally {
      await place.close()
    }
  }
  const conditions = { ...conditionsSince(began), databases: versions, seed: options.seed }
  console.log(`\n${shownTable(results)}\n\n${JSON.stringify(conditions)}`)
  if (options.json !== undefined) {
    const plain = results.map(({ fault: { id, title }, ...rest }) => ({ id, title, ...rest }))
    writeFigures(options.json, { conditions, faults: plain })
  }
  if (results.some(({ verdict }) => verdict === 'breach')) process.exitCode = 1
}

// Workers end when nobody is left to talk to, and the server is taken along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
await main()
