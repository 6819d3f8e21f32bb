/**
 * Puts what the long proofs have shown beside the promises: `npm run promises` writes it into docs/promises.md, between
 * the marks, from docs/figures. What has not been measured says so.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)
const page = new URL('docs/promises.md', root)

/** The proofs, how each is repeated, and from when on it is one of the long ones. */
export const proofs = {
  sim: { command: 'npm run sim -- --seeds 100000 --json docs/figures/sim.json', seedsMin: 100_000 },
  faults: { command: 'npm run faults -- --full --json docs/figures/faults.json', killsMin: 2_000, pausesMin: 300 },
  mutants: { command: 'npm run mutants -- --docs' },
}

/** Of each promise: what the simulation counts that puts it to the test, and which breaches of it the faults would show. */
export const shownBeside = {
  1: { sim: ['fault: clock back', 'seen: occurrences missed'], breaches: ['missed', 'doubled'] },
  2: { sim: ['act: put', 'act: pause', 'fault: crash'], breaches: ['missed'] },
  3: { sim: ['act: set queue', 'seen: run behind a key'], breaches: ['ceiling'] },
  4: {
    sim: ['fault: freeze past the lease', 'seen: stale end refused'],
    breaches: ['stale', 'stolen', 'double-record'],
    refusals: true,
  },
  5: {
    sim: ['fault: crash', 'fault: unknown-done', 'fault: unknown-undone'],
    breaches: ['lost', 'unrecorded', 'double-record'],
  },
  6: {
    sim: ['seen: lease taken back as expired', 'seen: lease taken back from the dead'],
    breaches: ['left-leased'],
    recovery: true,
  },
  7: { sim: ['seen: attempt not repeated, effect unknown'], breaches: ['repeated'] },
  8: { sim: ['seen: run parked', 'act: reset'] },
  9: { sim: ['fault: wake-up lost', 'fault: wake-up doubled', 'fault: deaf'] },
  10: { sim: ['fault: clock forwards', 'fault: clock back'] },
  12: { sim: ['act: delete'] },
}

/** The kinds of breaches as they are counted beside a promise. */
export const breachWords = {
  missed: 'missed',
  doubled: 'doubled',
  lost: 'lost',
  unrecorded: 'unrecorded',
  'double-record': 'recorded twice',
  stale: 'stale writes accepted',
  stolen: 'leases stolen',
  repeated: 'repeated',
  ceiling: 'times over a ceiling',
  'left-leased': 'left leased',
}

const databaseNames = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
const marked = /<!-- figures -->\n.*?<!-- end of figures -->/gs
const section = /^## (?:(\d+)\.|The long proofs)/gm

/** The page with these figures in it; `null` stands for a proof that has not been run. */
export function pageWith(text, figures) {
  const headings = [...text.matchAll(section)]
  return text.replace(marked, (_, at) => {
    const [, number] = headings.findLast(({ index }) => index < at) ?? []
    const lines = number === undefined ? conditionsOf(figures) : figuresOf(shownBeside[number], figures)
    return ['<!-- figures -->', ...lines, '<!-- end of figures -->'].join('\n')
  })
}

function figuresOf({ sim: kinds, breaches, ...also }, { sim, faults }) {
  const lines = [sim === null ? '- Simulation: not measured yet.' : simLine(sim, kinds)]
  if (breaches === undefined) return lines
  if (faults === null) return [...lines, '- Faults: not measured yet.']
  return [
    ...lines,
    ...Object.keys(databaseNames).map((database) => faultsLine(faults, database, { breaches, ...also })),
  ]
}

function simLine(sim, kinds) {
  const { seeds, steps, broken, counts } = sim
  const seen = kinds.map((kind) => `${number(counts[kind] ?? 0)} × ${kind.replace(/^\w+: /, '')}`)
  const what = `${number(broken)} of ${number(seeds)} histories broken, in ${number(steps)} steps with ${listed(seen)}.`
  return `- Simulation: ${what}${isLong.sim(sim) ? '' : ' A short run.'}`
}

function faultsLine(faults, database, { breaches, recovery, refusals }) {
  const played = playedOn(faults, database)
  if (played.length === 0) return `- Faults, ${databaseNames[database]}: not measured yet.`
  const found = breaches.map(
    (kind) => `${number(total(played, ({ breaches }) => breaches[kind] ?? 0))} ${breachWords[kind]}`,
  )
  const refused = refusals ? `, ${number(total(played, (one) => one.refusals))} refused` : ''
  const others = (id) => ![...kills, ...pauses, control].includes(id)
  const under = [
    `${number(injected(played, (id) => kills.includes(id)))} kills`,
    `${number(injected(played, (id) => pauses.includes(id)))} pauses past the lease`,
    `${number(injected(played, others))} other faults`,
  ]
  const what = `${listed(found)}${refused} in ${number(total(played, ({ runs }) => runs))} runs, under ${listed(under)}.`
  const back = recovery ? ` Recovery: ${recoveryOf(played)}.${closedOf(played)}` : ''
  return `- Faults, ${databaseNames[database]}: ${what}${back}${isLong.faults(faults, database) ? '' : ' A short run.'}`
}

/** Of each fault that workers recover from: what 99 of 100 recoveries stay under, and the longest, less the lease that had to expire. */
function recoveryOf(played) {
  const measured = played.filter(({ recoveryMs }) => recoveryMs !== null)
  if (measured.length === 0) return 'not measured'
  return measured
    .map(({ id, recoveryMs }) => `${id} p99 ${number(recoveryMs.p99)}, at most ${number(recoveryMs.max)} ms`)
    .join('; ')
}

/** What recovery leaves out, because nobody could have gone on. */
function closedOf(played) {
  const [closed] = played.flatMap(({ closedMs }) => (closedMs ? [closedMs] : []))
  if (closed === undefined) return ''
  return ` ${number(closed.count)} pauses hit a worker inside a write and blocked all writers until it continued, at most ${number(closed.max)} ms; recovery leaves that out.`
}

const kills = ['F1', 'F1r']
const pauses = ['F11']
const control = 'F0'

function playedOn({ faults }, database) {
  return faults.filter((one) => one.database === database && one.skipped === undefined)
}

function injected(played, isMeant) {
  return total(
    played.filter(({ id }) => isMeant(id)),
    (one) => one.injected,
  )
}

const isLong = {
  sim: ({ seeds }) => seeds >= proofs.sim.seedsMin,
  faults: (faults, database) => {
    const played = playedOn(faults, database)
    const { killsMin, pausesMin } = proofs.faults
    const often = (ids) => injected(played, (id) => ids.includes(id))
    return often(kills) >= killsMin && often(pauses) >= pausesMin
  },
}

/** What the figures above were measured under, and how to measure them again. */
function conditionsOf({ sim, faults, mutants }) {
  const rows = [
    [
      '[simulation](simulation.md)',
      proofs.sim,
      sim,
      () => `seeds ${number(sim.from)} to ${number(sim.from + sim.seeds - 1)}`,
    ],
    ['[faults](faults.md)', proofs.faults, faults, () => faultsTold(faults)],
    [
      '[mutants](mutants.md)',
      proofs.mutants,
      mutants,
      () => `${number(mutants.caught)} of ${number(mutants.mutants)} caught`,
    ],
  ]
  const lines = rows.map(([name, { command }, figures, told]) => {
    const cells = figures === null ? ['not measured yet', ''] : [told(), machineOf(figures.conditions)]
    return `| ${[name, `\`${command}\``, ...cells].join(' | ')} |`
  })
  return ['| proof | repeated by | what it came to | when and where |', '|---|---|---|---|', ...lines]
}

function faultsTold({ conditions: { databases, seed }, faults }) {
  const broken = faults.filter(({ verdict }) => verdict === 'breach')
  const skipped = faults.filter((one) => one.skipped !== undefined)
  const told = [
    `${faults.length - skipped.length - broken.length} of ${faults.length} faults kept every promise`,
    ...broken.map(({ id, database }) => `broken: ${id} on ${databaseNames[database]}`),
    ...skipped.map(({ id, database, skipped: why }) => `not measured: ${id} on ${databaseNames[database]}, ${why}`),
    ...Object.values(databases),
    `seed ${seed}`,
  ]
  return told.join('; ').replaceAll('|', '\\|')
}

function machineOf({ at, node, platform, cores, seconds }) {
  return `${at.slice(0, 10)}, Node ${node}, ${platform}, ${cores} cores, ${Math.ceil(seconds / 60)} min`
}

function total(all, of) {
  return all.reduce((sum, one) => sum + of(one), 0)
}

function number(value) {
  return value.toLocaleString('en-US')
}

function listed(words) {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** What lies in docs/figures. */
export function figuresThere() {
  const read = (name) => {
    const file = new URL(`docs/figures/${name}.json`, root)
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
  }
  return { sim: read('sim'), faults: read('faults'), mutants: read('mutants') }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, pageWith(readFileSync(page, 'utf8'), figuresThere()))
  process.stdout.write('docs/promises.md is written.\n')
}
