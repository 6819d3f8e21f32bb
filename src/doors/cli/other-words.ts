import { otherWords } from '../../parts-face.ts'

/** Words that other tools have for what is called otherwise here: whoever types them knows what he wants. */

const ofSchedules = ['list', 'create', 'show', 'pause', 'resume', 'delete', 'next', 'history', 'update', 'put', 'hint']
const ofRuns = ['output', 'cancel', 'retry', 'reset', 'wait', 'enqueue', 'attempts']

/** Commands, by what was typed in their place. */
const commands: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  belfry: {
    ...Object.fromEntries(ofSchedules.map((verb) => [verb, `schedule ${verb}`])),
    ...Object.fromEntries(ofRuns.map((verb) => [verb, `run ${verb}`])),
    ls: 'schedule list',
    add: 'schedule create',
    new: 'schedule create',
    rm: 'schedule delete',
    remove: 'schedule delete',
    trigger: 'schedule run',
    status: 'doctor',
    health: 'doctor',
    check: 'doctor',
    ps: 'run list --status leased',
    logs: 'run output',
    log: 'run output',
    tail: 'run output -f',
    why: 'explain',
    start: 'up',
    serve: 'up',
    work: 'up',
    dev: 'up',
    daemon: 'up',
    stop: 'up, which ends by Ctrl-C in its own terminal',
    schedules: 'schedule list',
    runs: 'run list',
    jobs: 'run list',
    job: 'run',
    task: 'schedule',
    cron: 'schedule',
    queues: 'queue list',
    workers: 'worker list',
  },
  'belfry schedule': {
    add: 'create',
    new: 'create',
    ls: 'list',
    rm: 'delete',
    remove: 'delete',
    get: 'show',
    describe: 'show',
    info: 'show',
    edit: 'update',
    set: 'put',
    apply: 'put',
    disable: 'pause',
    stop: 'pause',
    enable: 'resume',
    start: 'resume',
    unpause: 'resume',
    trigger: 'run',
    now: 'run',
    replay: 'backfill',
    catchup: 'backfill',
    runs: 'history',
    log: 'history',
  },
  'belfry run': {
    add: 'enqueue',
    create: 'enqueue',
    ls: 'list',
    get: 'show',
    describe: 'show',
    logs: 'output',
    log: 'output',
    kill: 'cancel',
    stop: 'cancel',
    delete: 'cancel',
    restart: 'retry',
    rerun: 'retry',
    unpark: 'reset',
  },
  'belfry queue': {
    ls: 'list',
    rm: 'delete',
    remove: 'delete',
    get: 'show',
    describe: 'show',
    update: 'set',
    create: 'set',
    policy: 'set',
    stop: 'pause',
  },
  'belfry worker': { ls: 'list' },
}

/** Flags, by what was typed in their place. */
const flags: Readonly<Record<string, string>> = {
  '--tz': '--zone',
  '--timezone': '--zone',
  '--time-zone': '--zone',
  '--interval': '--every',
  '--schedule': '--cron',
  '--url': '--http',
  '--exec': '--command',
  '--cmd': '--command',
  '--shell': '--command',
  '--run': '--command',
  '--data': '--payload',
  '--args': '--payload',
  '--input': '--file',
  '--delay': '--in',
  '--after': '--in',
  '--when': '--at',
  '--time': '--at',
  '--headers': '--header',
  '--tag': '--tags',
  '--retries': '--attempts',
  '--max-attempts': '--attempts',
  '--concurrency': '--max-concurrent of `belfry queue set`',
  '--max-concurrent': '--max-concurrent of `belfry queue set`',
  '--format': '--json',
  '--output': '--json',
  '--db': '--store',
  '--database': '--store',
  '--database-url': '--store',
  '--host': '--server',
  '--remote': '--server',
  '--token': '--token-file',
  '--force': '--yes',
  '--for': '--ttl',
  '--dry': '--dry-run',
  '--verbose': 'no flag: `belfry up` tells all that happens unless it is --quiet',
}

export function commandMeant(named: string, path: string): string | undefined {
  if (Object.hasOwn(commands[path] ?? {}, named)) return commands[path]?.[named]
  const words = `${path} ${named}`.replace(/^belfry /, '')
  return Object.hasOwn(otherWords, words) ? otherWords[words] : undefined
}

/** What this command calls it; where it has no such flag, only what belongs to another one. */
export function flagMeant(flag: string, has: (known: string) => boolean): string | undefined {
  const meant = Object.hasOwn(flags, flag) ? flags[flag] : undefined
  return meant !== undefined && (has(meant) || !/^--[a-z-]+$/.test(meant)) ? meant : undefined
}
