import { shown } from './figures.mjs'

/** What Belfry sets out to reach, each judged by one run of the bench; what was not measured is neither met nor missed. */
export function targetsOf(results) {
  return [
    throughputTargets,
    latencyTargets,
    sizeTargets,
    restTargets,
    hostTargets,
    holdTargets,
    modelTargets,
    calendarTargets,
    switchTargets,
    inboxTargets,
    agentTargets,
    plannerTargets,
    corpusTargets,
  ].flatMap((tell) => tell(results))
}

/** The figure of a contestant's best setting, or null when he was not there. */
export function bestOf(results, contestant) {
  const rows = (results.measures.throughput?.rows ?? []).filter(
    (row) => row.contestant === contestant && row.failed === undefined,
  )
  return rows.toSorted((a, b) => b.perSecond - a.perSecond)[0] ?? null
}

export function ratioOf(a, b) {
  return a === null || b === null || a === undefined || b === undefined ? null : a / b
}

function atLeast(what, value, limit, unit = '×') {
  return judged({ what, value, limit, unit, sign: '≥', met: value !== null && value >= limit })
}

function atMost(what, value, limit, unit) {
  return judged({ what, value, limit, unit, sign: '≤', met: value !== null && value <= limit })
}

function judged({ what, value, limit, unit, sign, met }) {
  const isKnown = value !== null && value !== undefined && Number.isFinite(value)
  const wanted = `${sign} ${shown(limit)} ${unit}`
  return {
    what,
    wanted,
    value: isKnown ? value : null,
    unit,
    verdict: isKnown ? (met ? 'met' : 'missed') : 'not measured',
  }
}

function calendarTargets(results) {
  const rows = results.measures.admission?.rows
  if (rows === undefined) return []
  const perSecond = (start) => rows.find(({ setting }) => setting.startsWith(start))?.perSecond ?? null
  const closedMs = 1_000 / (perSecond('governor') ?? Number.NaN)
  return [
    atLeast('nextOpening of office hours', perSecond('nextOpening, office hours'), 200_000, '/s'),
    atMost('a cron before 399 closed days', closedMs, 1, 'ms'),
  ]
}

function switchTargets(results) {
  return (results.measures.switches?.rows ?? []).flatMap((row) => {
    const slowest = Math.max(row.stop, row.go, row.block, row.unblock, row.close, row.open)
    return [
      atMost(`the slowest switch over a full line, ${databases[row.database]}`, slowest, 50, 'ms'),
      atMost(
        `a lease behind a blocked account, ${databases[row.database]}`,
        ratioOf(row.leaseBehind, row.leaseEmpty),
        2,
        '×',
      ),
    ]
  })
}

function plannerTargets({ measures: { planner } }) {
  if (planner === undefined) return []
  const [few, many] = planner.sizes.map((size) => size.toLocaleString('en'))
  return Object.entries(databases).flatMap(([database, label]) => {
    const row = (name) => planner.rows.find((one) => one.database === database && one.setting === name) ?? {}
    const [among, beside] = [row(`due looks among ${many}`).ms, row(`due looks among ${few}`).ms]
    const share = ratioOf(row('ends with a rule').perSecond, row('ends without rules').perSecond)
    return [
      atMost(`due looks among ${many}, ${label}`, among ?? null, 20, 'ms'),
      atMost(`due looks among ${many} to ${few}, ${label}`, ratioOf(among, beside), 2, '×'),
      atLeast(`ends with a rule to ends without, ${label}`, share, 0.8),
      atMost(`commit of a hint to start, p50, ${label}`, row('hint to start').ms ?? null, 20, 'ms'),
    ]
  })
}

function throughputTargets(results) {
  const perSecond = (contestant) => bestOf(results, contestant)?.perSecond ?? null
  const against = (ours, theirs, limit) =>
    atLeast(`throughput, ${ours} to ${theirs}`, ratioOf(perSecond(ours), perSecond(theirs)), limit)
  return [
    against('Belfry (SQLite)', 'plainjob', 6),
    against('Belfry (SQLite)', 'BullMQ', 5),
    against('Belfry (SQLite)', 'bare loop (SQLite)', 0.5),
    against('Belfry (PostgreSQL)', 'graphile-worker', 1.4),
    against('Belfry (PostgreSQL)', 'pg-boss', 3),
  ]
}

function latencyTargets(results) {
  const rows = results.measures.latency?.rows ?? []
  const p50 = (contestant, way) => rows.find((row) => row.contestant === contestant && row.way === way)?.p50 ?? null
  const beside = (way) => {
    const ratio = ratioOf(p50('Belfry (PostgreSQL)', way), p50('graphile-worker', way))
    return atMost(`enqueue to start, p50, ${way}, Belfry (PostgreSQL) to graphile-worker`, ratio, 1, '×')
  }
  return [
    atMost('enqueue to start, p50, in process, Belfry (SQLite)', p50('Belfry (SQLite)', 'in process'), 1.5, 'ms'),
    beside('in process'),
    beside('from another process'),
  ]
}

const databases = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

function sizeTargets(results) {
  return Object.entries(databases).map(([database, label]) => {
    const rows = (results.measures.cost?.rows ?? []).filter(
      (row) => row.database === database && row.size !== undefined,
    )
    const [least, most] = [rows[0], rows.at(-1)]
    const ratios = ['lease100', 'lease1'].map((step) => ratioOf(most?.[step], least?.[step]))
    const sizes =
      least === undefined ? '' : ` (${most.size.toLocaleString('en')} to ${least.size.toLocaleString('en')} ready)`
    return atMost(
      `cost of a lease, full to nearly empty, ${label}${sizes}`,
      ratios.includes(null) ? null : Math.max(...ratios),
      2,
      '×',
    )
  })
}

function restTargets(results) {
  const { punctuality, cron, footprint } = results.measures
  const late = (database, way) => punctuality?.rows.find((row) => row.database === database && row.way === way)
  const memory = (database) => footprint?.rows.find((row) => row.database === database && row.schedules > 0)
  const herd = punctuality?.herd.schedules.toLocaleString('en') ?? 'many'
  return Object.entries(databases)
    .flatMap(([database, label]) => [
      atMost(`lateness, p99, ${label}`, late(database, 'spread')?.p99 ?? null, 10, 'ms'),
      atMost(
        `${herd} due in one instant, all started, ${label}`,
        late(database, 'one instant')?.allStartedMs ?? null,
        2_000,
        'ms',
      ),
      atMost(`resident with 100,000 schedules, ${label}`, memory(database)?.rssMb ?? null, 150, 'MB'),
    ])
    .concat(atLeast('cron.next to croner, the worst expression', worstCronRatio(cron), 50))
}

/** Not told where a run did not measure it: it is younger than the others. */
function hostTargets({ measures: { hosts } }) {
  if (hosts === undefined) return []
  return Object.entries(databases).flatMap(([database, label]) => {
    const rows = hosts.rows.filter((row) => row.database === database)
    const [least, ...more] = rows
    return [
      ...more.map((row) =>
        atMost(`lease of one over HTTP, ${row.name} to 100, ${label}`, ratioOf(row.leaseMs, least.leaseMs), 2, '×'),
      ),
      atLeast(
        `${hosts.hosts} hosts over HTTP, slowest to fastest, ${label}`,
        Math.min(...rows.map(({ fairness }) => fairness)),
        0.5,
      ),
    ]
  })
}

/** Likewise. */
function inboxTargets({ measures: { inbox } }) {
  return (inbox?.rows ?? []).map((row) =>
    atMost(`\`inbox next\` to \`sched lease\`, ${databases[row.database]}`, row.ratio, 1.5, '×'),
  )
}

/** Likewise. */
function agentTargets({ measures: { agents } }) {
  return (agents?.rows ?? []).flatMap((row) => [
    atMost(`an attempt of an agent to one of a command, ${databases[row.database]}`, row.ratio, 2, '×'),
    atLeast(`a transcript is read, ${databases[row.database]}`, row.readMegabytes, 50, 'MB/s'),
  ])
}

/** Likewise. */
function holdTargets({ measures: { holds } }) {
  if (holds === undefined) return []
  return holds.rows.flatMap((row) =>
    [1, 100].map((batch) =>
      atMost(
        `lease of ${batch}, ${holds.holds.toLocaleString('en')} holds to none, ${databases[row.database]}`,
        ratioOf(row[`lease${batch}Many`], row[`lease${batch}None`]),
        1.1,
        '×',
      ),
    ),
  )
}

/** Likewise. */
function modelTargets({ measures: { mcp } }) {
  if (mcp === undefined) return []
  const most = (text) => Math.max(...mcp.rows.filter(({ what }) => what.startsWith(text)).map(({ tokens }) => tokens))
  return [
    atMost('tools/list for a model, the default set', most('tools/list, default'), 6_000, 'tokens'),
    atMost('tools/list for a model, all tools', most('tools/list, all'), 20_000, 'tokens'),
    atMost('schedule_list of 20 schedules for a model', most('schedule_list'), 1_500, 'tokens'),
  ]
}

export function cronRatios(cron) {
  const figures = (contestant) => cron?.rows.find((row) => row.contestant === contestant && row.failed === undefined)
  const [ours, theirs] = [figures('Belfry'), figures('croner')]
  if (ours === undefined || theirs === undefined) return []
  return expressionsOf(ours).map((expression) => ours[expression] / theirs[expression])
}

/** The expressions of a row are its fields that end in a zone. */
export function expressionsOf(row) {
  return Object.keys(row).filter((field) => /^[^a-zA-Z]+ [A-Z]/.test(field))
}

function worstCronRatio(cron) {
  const ratios = cronRatios(cron)
  return ratios.length === 0 ? null : Math.min(...ratios)
}

function corpusTargets(results) {
  const rows = results.measures.corpus?.rows
  if (rows === undefined) return []
  const sizes = rows.map(({ size }) => size)
  const [small, large] = [Math.min(...sizes), Math.max(...sizes)]
  const worst = (field) => Math.max(...rows.filter(({ size }) => size === large).map((row) => row[field]))
  const grown = (field) => {
    const of = (size, database) => rows.find((row) => row.size === size && row.database === database)?.[field]
    return Math.max(...['sqlite', 'postgres'].map((database) => of(large, database) / of(small, database)))
  }
  const items = large.toLocaleString('en')
  const steps = [
    ['idleTickMs', 'an idle tick', 50],
    ['changeMs', 'a changed file to its phase pending', 20],
    ['pickMs', 'a pick', 5],
    ['statusMs', 'status', 20],
    ['listMs', 'a page of list', 20],
    ['owedMs', 'a page of list --owed', 20],
  ]
  return [
    ...steps.map(([field, what, limit]) => atMost(`${what} at ${items} items`, worst(field), limit, 'ms')),
    ...steps.map(([field, what]) =>
      atMost(`${what}, beside ${small.toLocaleString('en')} items`, grown(field), 2, '×'),
    ),
    atMost(`a scan of ${items} items holds the event loop`, worst('heldMs'), 50, 'ms'),
    atMost(`a corpus of ${items} items resident`, worst('rssMb'), 200, 'MB'),
  ]
}
