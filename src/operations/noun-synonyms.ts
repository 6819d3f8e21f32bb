/** Words from other tools, as typed after `belfry`, with the command that each one means. */

type Words = Readonly<Record<string, string>>

/** Verbs that can be typed without their noun. */
function alone(noun: string, verbs: readonly string[]): Words {
  return Object.fromEntries(verbs.map((verb) => [verb, `${noun} ${verb}`]))
}

/** Other words for the verbs of a noun, by verb. */
function instead(noun: string, words: Readonly<Record<string, string>>): Words {
  const pairs = Object.entries(words).flatMap(([verb, others]) =>
    others.split(' ').map((other) => [`${noun} ${other}`, verb] as const),
  )
  return Object.fromEntries(pairs)
}

export const scheduleWords: Words = {
  ...alone('schedule', [
    ...['list', 'create', 'show', 'pause', 'resume', 'delete', 'next', 'history', 'update', 'put', 'hint'],
  ]),
  ls: 'schedule list',
  schedules: 'schedule list',
  add: 'schedule create',
  new: 'schedule create',
  rm: 'schedule delete',
  remove: 'schedule delete',
  trigger: 'schedule run',
  why: 'explain',
  task: 'schedule',
  cron: 'schedule',
  ...instead('schedule', {
    create: 'add new',
    list: 'ls',
    delete: 'rm remove',
    show: 'get describe info',
    update: 'edit',
    put: 'set apply',
    pause: 'disable stop',
    resume: 'enable start unpause',
    run: 'trigger now',
    history: 'runs log',
  }),
}

export const runWords: Words = {
  ...alone('run', ['output', 'cancel', 'retry', 'reset', 'wait', 'enqueue', 'attempts']),
  ps: 'run list --status leased',
  logs: 'run output',
  log: 'run output',
  tail: 'run output -f',
  runs: 'run list',
  jobs: 'run list',
  job: 'run',
  ...instead('run', {
    enqueue: 'add create',
    list: 'ls',
    show: 'get describe',
    output: 'logs log',
    cancel: 'kill stop delete',
    retry: 'restart rerun',
    reset: 'unpark',
  }),
}

export const queueWords: Words = {
  queues: 'queue list',
  ...instead('queue', {
    list: 'ls',
    delete: 'rm remove',
    show: 'get describe',
    set: 'update create policy',
    pause: 'stop',
  }),
}

export const workerWords: Words = { workers: 'worker list', ...instead('worker', { list: 'ls' }) }

export const storeWords: Words = { status: 'doctor', health: 'doctor', check: 'doctor' }
