import { median, shown, times } from './figures.mjs'
import { bestOf, expressionsOf, ratioOf, targetsOf } from './targets.mjs'

const databases = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** The results as tables with a few words each: what the terminal prints, and what the page shows. */
export function sectionsOf(results) {
  const told = {
    throughput,
    latency,
    punctuality,
    cost,
    decay,
    cron,
    governor,
    'loop-delay': loopDelay,
    footprint,
    hosts,
    mcp,
    lists,
    holds,
    admission,
    planner,
    switches,
    inbox,
    agents,
    corpus,
  }
  const sections = Object.entries(told)
    .filter(([name]) => results.measures[name] !== undefined)
    .map(([name, tell]) => ({ name, ...tell(results.measures[name], results), beside: disk(results.measures[name]) }))
  return [targets(results), ...sections]
}

/** How fast the disk was just before, for a reader who compares two runs; and when, for what was measured by itself. */
function disk({ fsync, apart }) {
  if (fsync === undefined) return undefined
  const speed = `fsync p50 ${shown(fsync.p50)} ms, p99 ${shown(fsync.p99)} ms`
  return apart === undefined ? speed : `${speed}; measured by itself on ${apart.date}, load before ${apart.loadBefore}`
}

function targets(results) {
  return {
    name: 'targets',
    title: 'What we set out to reach',
    text: 'Every figure is judged by this one run. What the missed ones are made of: [where the time goes](profile.md).',
    columns: ['what', 'figure', 'wanted', ''],
    rows: targetsOf(results).map(({ what, value, unit, wanted, verdict }) => [
      what,
      value === null ? '–' : `${shown(value)} ${unit}`,
      wanted,
      verdict,
    ]),
  }
}

function throughput({ count, rows }, results) {
  return {
    title: 'Throughput',
    text: `${count.toLocaleString('en')} jobs that do nothing lie ready; from \`start\` to the moment when the last end is written, in one process. Processor time is that of the process itself, without its database. The last column is Belfry on the database named there, to the row.`,
    columns: ['', 'setting', 'jobs/s', 'least – most', 'enqueued/s', 'µs of processor a job', 'Belfry is'],
    rows: rows.map((row) => {
      if (row.failed !== undefined) return [row.contestant, row.setting, '–', row.failed, '–', '–', '–']
      const belfry = bestOf(results, `Belfry (${row.beside})`)
      const each = row.rounds.map(({ perSecond }) => perSecond)
      return [
        row.contestant,
        row.setting,
        shown(row.perSecond),
        `${shown(Math.min(...each))} – ${shown(Math.max(...each))}`,
        shown(row.enqueuedPerSecond),
        shown(row.cpuMicrosecondsEach),
        row.contestant === belfry?.contestant
          ? ''
          : `${times(ratioOf(belfry?.perSecond ?? null, row.perSecond))} (${row.beside})`,
      ]
    }),
  }
}

function latency({ count, rows }) {
  return {
    title: 'From enqueue to start',
    text: `From the call of \`enqueue\` to the first line of the handler, in ms: ${count} jobs one after another into an idle worker, or as many as fit into the time. Who polls is asked at instants that have nothing to do with his timer.`,
    columns: ['', 'from', 'setting', 'p50 ms', 'p99 ms', 'jobs'],
    rows: rows.map((row) => [
      row.contestant,
      row.way,
      row.setting,
      ...(row.failed === undefined ? [shown(row.p50), shown(row.p99), shown(row.count)] : ['–', '–', row.failed]),
    ]),
  }
}

function punctuality({ spread, herd, rows }) {
  return {
    title: 'Punctuality',
    text: `How much later than planned a handler starts, in ms: ${spread.schedules.toLocaleString('en')} schedules, each at an instant of its own, over ${spread.overMs / 1_000} s; and ${herd.schedules.toLocaleString('en')} schedules that are due in one instant, at most 500 of them at work at once.`,
    columns: ['', 'schedules', 'p50 ms', 'p99 ms', 'all started after ms', 'highest resident MB'],
    rows: rows.map((row) => [
      databases[row.database],
      `${row.schedules.toLocaleString('en')}, ${row.way}`,
      ...['p50', 'p99', 'allStartedMs', 'rssMb'].map((field) => shown(row[field])),
    ]),
  }
}

function cost({ rows }) {
  const steps = ['enqueue', 'lease', 'settle', 'fire']
  const cells = (row) => [100, 1].flatMap((batch) => steps.map((step) => shown(row[`${step}${batch}`])))
  return {
    title: 'What a step costs in a full store',
    text: 'One transaction of the store, in ms, of a hundred rows and of one. The rows were copied from one that the store had written itself, then PostgreSQL was vacuumed and analyzed as autovacuum would have done. Beside the ready runs lie as many schedules, none of them due but those that are fired. With one key full, *hand over* is the end of the run that has it and the lease of the next.',
    columns: [
      '',
      'store holds',
      ...[100, 1].flatMap((batch) => steps.map((step) => `${step} ${batch}`)),
      'hand over',
      'filled in s',
    ],
    rows: rows.map((row) => [
      databases[row.database],
      row.name,
      ...cells(row),
      shown(row.handOver),
      shown(row.fillMs / 1_000),
    ]),
    plot: 'cost.svg',
  }
}

function decay({ slices, count, rows }) {
  const each = rows.map(({ perSecond }) => perSecond)
  const last = times(ratioOf(each.at(-1) ?? null, median(each)))
  return {
    title: 'Over time on PostgreSQL',
    text: `${(slices * count).toLocaleString('en')} runs through one database in slices of ${count.toLocaleString('en')}; dead rows of all of Belfry's tables at the end of each slice. The last slice is ${last} the median one.`,
    columns: ['slice', ...rows.map((_, slice) => String(slice + 1))],
    rows: [
      ['runs/s', ...each.map(shown)],
      ['dead rows', ...rows.map(({ deadTuples }) => shown(deadTuples))],
    ],
  }
}

function cron({ rows }) {
  const [ours] = rows
  const others = rows.slice(1)
  return {
    title: 'The calendar',
    text: 'The next instant of an expression that was parsed before, asked at 512 instants over two years: answers a second.',
    columns: ['expression and zone', 'Belfry', ...others.flatMap(({ contestant }) => [contestant, 'Belfry is'])],
    rows: expressionsOf(ours).map((expression) => [
      `\`${expression.replace(/ ([A-Z])/, '` $1')}`,
      shown(ours[expression]),
      ...others.flatMap((row) => [shown(row[expression]), times(ratioOf(ours[expression], row[expression] ?? null))]),
    ]),
  }
}

function governor({ rows }) {
  return {
    title: 'The governor',
    text: 'How often a second it answers when a schedule runs next, on one core.',
    columns: ['schedule', 'answers/s'],
    rows: rows.map(({ setting, perSecond }) => [setting, shown(perSecond)]),
  }
}

function loopDelay({ count, workers, rows }) {
  return {
    title: 'The event loop',
    text: `How long the event loop stands still while ${workers} processes do ${count.toLocaleString('en')} runs on one SQLite file: the worst of them, in ms beyond the timer's own.`,
    columns: ['', 'p99 ms', 'longest ms', 'runs/s of all'],
    rows: rows.map((row) => [row.setting, shown(row.p99Ms), shown(row.maxMs), shown(row.perSecond)]),
  }
}

function hosts({ calls, hosts: count, forMs, rows }) {
  return {
    title: 'Outside hosts over HTTP',
    text: `What a lease of one run takes over HTTP, with its answer, in ms (${calls} calls one after another); and how far ${count} hosts get that lease and give back for ${forMs / 1_000} s at once: the turns of all, and the slowest to the fastest of them.`,
    columns: ['', 'in line', 'lease p50 ms', 'p99 ms', 'turns/s of all', 'slowest to fastest'],
    rows: rows.map((row) => [
      databases[row.database],
      row.name,
      ...['leaseMs', 'leaseP99Ms', 'turnsPerSecond', 'fairness'].map((field) => shown(row[field])),
    ]),
  }
}

function inbox({ sessions, each, rows }) {
  return {
    title: 'Messages for sessions',
    text: `${sessions} sessions take ${each} messages each and acknowledge them (\`inbox next\`, \`inbox ack\`), by turns with as many hosts that lease and complete as many runs (\`sched lease\`, \`sched complete\`); p50 in ms, in one process. Each message was delivered once.`,
    columns: ['', 'next', 'lease', 'next to lease', 'ack', 'complete'],
    rows: rows.map((row) => [
      databases[row.database],
      ...['nextMs', 'leaseMs', 'ratio', 'ackMs', 'completeMs'].map((field) => shown(row[field])),
    ]),
  }
}

function mcp({ rows }) {
  return {
    title: 'What a model reads',
    text: 'The context that the MCP door takes, in tokens of the encoding o200k_base: the list of tools before anything is asked, and answers from a store with 20 schedules that have targets, payloads and descriptions. The fence around what others wrote is counted.',
    columns: ['', 'scope', 'tokens'],
    rows: rows.map(({ what, scope, tokens }) => [what, scope, shown(tokens)]),
  }
}

function lists({ size, count, pageRuns, pageFar, rows }) {
  const turns = 'stores with and without the index take batches of 500 by turns'
  return {
    title: 'Pages of `run list`',
    text: `A page of ${pageRuns} runs out of ${size.toLocaleString('en')} that have ended, in ms: the first page, and page ${pageFar.toLocaleString('en')}. *By id* is how the list was read before it went by when runs were made. What the index for it costs: ${turns}, ${count.toLocaleString('en')} runs each.`,
    columns: [
      '',
      'first page ms',
      'by id',
      `page ${pageFar.toLocaleString('en')} ms`,
      'by id',
      'enqueued/s',
      'without the index',
      'leased and settled/s',
      'without the index',
      'log bytes a run enqueued',
      'without the index',
    ],
    rows: rows.map((row) => [
      databases[row.database],
      ...['madeFirstMs', 'idFirstMs', 'madeFarMs', 'idFarMs'].map((field) => shown(row[field])),
      ...['enqueuedWith', 'enqueuedWithout', 'workedWith', 'workedWithout'].map((field) => shown(row[field])),
      ...['walWith', 'walWithout'].map((field) => shown(row[field] ?? null)),
    ]),
  }
}

function admission({ rows }) {
  return {
    title: 'Calendars',
    text: 'How often a second it is answered when calendars open next, and when a schedule runs next that follows them, on one core.',
    columns: ['', 'answers/s'],
    rows: rows.map(({ setting, perSecond }) => [setting, shown(perSecond)]),
  }
}

function planner({ schedules, warmUp, hinted, rows }) {
  return {
    title: 'Rules and planner',
    text: `How long it takes to find 100 looks that are due among few and many schedules; how many ends of occurrences are written in a second for ${schedules.toLocaleString('en')} schedules with and without a rule, without the first ${warmUp.toLocaleString('en')}, which run before their code is optimised; and the time from the commit of a hint to the start of its run in the same process, the median of ${hinted}. All by turns.`,
    columns: ['', '', 'ms', 'a second'],
    rows: rows.map(({ database, setting, ms, perSecond }) => [
      databases[database],
      setting,
      ms === undefined ? '–' : shown(ms),
      perSecond === undefined ? '–' : shown(perSecond),
    ]),
  }
}

function agents({ attempts, megabytes, rows }) {
  return {
    title: 'Agents',
    text: `An attempt of an agent beside one of a command that runs the same program, a shell that prints two lines, from \`enqueue\` to the end of the run, in ms: medians of ${attempts} of each, by turns on one store. And how fast a transcript of ${megabytes} MB is read on one core, in MB/s.`,
    columns: ['', 'command ms', 'agent ms', 'ratio', 'of each round', 'read MB/s'],
    rows: rows.map((row) => {
      const each = row.rounds.map(({ ratio }) => ratio)
      const spread = `${shown(Math.min(...each))} – ${shown(Math.max(...each))}`
      const { database, commandMs, agentMs, ratio, readMegabytes } = row
      return [databases[database], shown(commandMs), shown(agentMs), times(ratio), spread, shown(readMegabytes)]
    }),
  }
}

function holds({ size, holds: count, turns, rows }) {
  const many = count.toLocaleString('en')
  return {
    title: 'A lease under holds',
    text: `A lease of one run and of a hundred, in ms, where ${size.toLocaleString('en')} runs are ready: in a store without a hold, and in one with ${many} holds on other queues, kinds, schedules and keys. The two stores lease ${turns} times by turns.`,
    columns: [
      '',
      ...[1, 100].flatMap((batch) => [`lease ${batch}, no hold`, `${many} holds`, 'ratio', 'of each round']),
    ],
    rows: rows.map((row) => [
      databases[row.database],
      ...[1, 100].flatMap((batch) => {
        const [none, held] = [`lease${batch}None`, `lease${batch}Many`]
        const each = row.rounds.map((round) => ratioOf(round[held], round[none]))
        const spread = `${shown(Math.min(...each))} – ${shown(Math.max(...each))}`
        return [shown(row[none]), shown(row[held]), times(ratioOf(row[held], row[none])), spread]
      }),
    ]),
  }
}

const thrown = ['stop', 'go', 'block', 'unblock', 'close', 'open']

function switches({ size, turns, rows }) {
  return {
    title: 'Stopping very many runs',
    text: `${size.toLocaleString('en')} runs of one account and one calendar are ready. What it costs to stop and start everything, to block and unblock the account, and to close and open the calendar, in ms, ${turns} times each; then a lease of one run of another account behind the blocked ones, beside a lease from a store in which nothing else waits, by turns.`,
    columns: ['', ...thrown, 'lease behind', 'lease from an empty queue', 'ratio'],
    rows: rows.map((row) => [
      databases[row.database],
      ...thrown.map((name) => shown(row[name])),
      shown(row.leaseBehind),
      shown(row.leaseEmpty),
      times(ratioOf(row.leaseBehind, row.leaseEmpty)),
    ]),
  }
}

function footprint({ watchMs, rows }) {
  return {
    title: 'A worker with nothing to do',
    text: `Resident memory, and processor time in the first ${watchMs / 1_000} s after its start.`,
    columns: ['', 'schedules', 'resident MB', 'processor ms'],
    rows: rows.map((row) => [
      databases[row.database],
      row.schedules.toLocaleString('en'),
      shown(row.rssMb),
      shown(row.cpuMs),
    ]),
  }
}

function corpus({ turns, rows }) {
  return {
    title: 'Corpora',
    text: `A tree in which every item has thirty below it, a document and two files, all of it on the disk before the first scan: what the system still has to write of a tree just planted would be charged to the scan. The first scan is \`corpus create\`; a scan is that of a tree in which nothing changed, as a worker does when it starts; *held* is the longest time that either kept the event loop. An idle tick finds nothing owed; a change is the work from a changed file to its phase pending; a pick is from 45 groups, with every tenth item owed; pages are of a hundred items. Medians of ${turns}, in ms. The ownership tree of the original alone took 27 s at 4,000 items, as its authors recorded it; nothing of it is run here.`,
    columns: [
      '',
      'items',
      'tree',
      'first scan',
      'scan',
      'held',
      'idle tick',
      'change',
      'pick',
      'status',
      'list',
      'list --owed',
      'highest resident MB',
    ],
    rows: rows.map((row) => [
      databases[row.database],
      row.size.toLocaleString('en'),
      row.way,
      ...[
        'firstScanMs',
        'scanMs',
        'heldMs',
        'idleTickMs',
        'changeMs',
        'pickMs',
        'statusMs',
        'listMs',
        'owedMs',
        'rssMb',
      ].map((field) => shown(row[field])),
    ]),
  }
}
