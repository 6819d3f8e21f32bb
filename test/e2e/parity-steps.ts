import { type AnyOperation, commandOf } from '../../src/operations/operation.ts'

/** What a step has to go by: the ids that the steps before it were answered with. */
export interface Known {
  readonly [name: string]: string
}

export interface Step {
  /** What is typed; the flags of the store are added to it. */
  readonly words: (known: Known) => readonly string[]
  readonly exit: number
  /** Keeps an id of the answer under this name. */
  readonly keeps?: string
  /** What is piped in. */
  readonly stdin?: string
  /** Whether the answer for people has nothing in it that only one of the two databases could say. */
  readonly isShown: boolean
}

interface Manner {
  readonly exit?: number
  readonly keeps?: string
  readonly stdin?: string
  readonly isShown?: false
}

/** A step that may name what was kept: `run show {first}`. */
function step(line: string, { exit = 0, keeps, stdin, isShown }: Manner = {}): Step {
  const words = (known: Known) =>
    line.split(' ').map((word) => word.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? ''))
  return {
    words,
    exit,
    ...(keeps !== undefined && { keeps }),
    ...(stdin !== undefined && { stdin }),
    isShown: isShown ?? !/^(doctor|worker)/.test(line),
  }
}

const crontab = 'MAILTO=ops\n# Sweeps.\n0 2 * * * /opt/sweep --all\n@reboot /opt/agent\n'
const queueFile = '{"entries":[{"id":"q-1","status":"leased","priority":7},{"id":"q-2","status":"drained"}]}'

/** What outside hosts do, with runs that no worker takes: they answer the same whether one runs or not. */
export const hostSteps: readonly Step[] = [
  step('queue policy set hosts --max-concurrent 2 --max-attempts 2'),
  step('queue set hosts --backoff-base 1m --if-version 1'),
  step('queue policy show hosts'),
  step('queue policy versions hosts'),
  step('queue policy diff hosts'),
  step('queue policy diff hosts --to 9', { exit: 3 }),
  step('queue add --queue hosts --target null --payload {"a":1}', { keeps: 'ahead' }),
  step('run enqueue --queue hosts --target null --tags x', { keeps: 'middle' }),
  step('run enqueue --queue hosts --target null', { keeps: 'behind' }),
  step('run reprioritise {behind} --priority 1'),
  step('queue reprioritise {behind} --priority 1'),
  step('run reprioritise r-3zzz --priority 1', { exit: 3 }),
  step('sched plan --queue hosts'),
  step('sched plan --queue nowhere'),
  step('sched lease builder --queue nowhere'),
  step('sched lease builder --queue hosts --request-key k', { keeps: 'leaseA' }),
  step('sched lease builder --queue hosts --request-key k'),
  step('sched lease builder --queue hosts --request-key k --limit 2', { exit: 4 }),
  step('sched renew {leaseA}'),
  step('sched renew-many --leases {leaseA}'),
  step('sched complete {leaseA} --result {"rows":3}'),
  step('sched complete {leaseA}', { exit: 4 }),
  step('sched renew {leaseA}', { exit: 4 }),
  step('sched complete nonsense', { exit: 2 }),
  step('sched lease builder --queue hosts', { keeps: 'leaseB' }),
  step('sched release {leaseB} --reason No-luck.', { exit: 2 }),
  step('sched release {leaseB} --failed --reason No-luck.'),
  step('sched lease builder --queue hosts', { keeps: 'leaseC' }),
  step('sched park {leaseC} --reason Ask-somebody.'),
  step('sched reclaim --queue hosts'),
  step('queue stats hosts'),
  step('sched reset --queue hosts'),
  step('sched reset --ids {ahead},{behind}', { exit: 4 }),
  step('sched reset', { exit: 2 }),
  step('queue drain hosts --host script --limit 5'),
  step('queue cancel {ahead}'),
]

/**
 * Every verb at least once, and the refusals that stores are known for. Its runs wait in a queue that is paused, so that
 * it answers the same whether a worker runs or not.
 */
export const steps: readonly Step[] = [
  step('queue set shut --max-concurrent 2 --max-attempts 2'),
  step('queue set shut --max-concurrent 2'),
  step('queue set shut --max-concurrent 3 --if-version 7', { exit: 4 }),
  step('queue pause shut --reason Nobody-goes-through.'),
  step('queue show shut'),
  step('queue show nowhere', { exit: 3 }),
  step('queue set other --rate-limit {"startsMax":5,"per":"1m"} --dry-run'),
  step('queue resume shut'),
  step('queue pause shut --reason Again.'),
  step('queue pause nowhere', { exit: 3 }),
  step('queue set empty --max-concurrent 2'),
  step('queue delete empty', { exit: 2 }),
  step('queue delete empty --dry-run'),
  step('queue delete empty --yes'),
  step('queue delete empty --yes', { exit: 3 }),
  step('queue delete default --yes', { exit: 4 }),
  step('queue list'),
  step('queue list --limit 1'),
  step('queue list --after shut'),
  step('hold put --on kind:http --reason The_proxy_is_moved. --for 2h', { keeps: 'hold' }),
  step('hold put --on key:k --reason why --from 2099-01-01T00:00Z --until 2099-02-01T00:00Z', { keeps: 'later' }),
  step('hold put --on queue:nowhere --reason why', { exit: 3 }),
  step('hold put --on kind:http --reason why --until 2020-01-01T00:00Z', { exit: 2 }),
  step('hold list'),
  step('agent list'),
  step('agent show codex'),
  step('agent check gemini', { exit: 1 }),
  step('hold lift {hold}'),
  step('hold lift {later}'),
  step('hold lift {hold}', { exit: 3 }),
  step('stop --reason Incident --cancel'),
  step('stop', { exit: 4 }),
  step('go'),
  step('go', { exit: 4 }),
  step('schedule create year --cron 0_9_1_1_* --zone Europe/Paris --queue shut --tags a,b -- echo new year'),
  step('schedule create year --cron 0_9_1_1_* --zone Europe/Paris --queue shut --tags a,b -- echo new year'),
  step('schedule create year --cron 0_9_2_1_* --queue shut --handler h', { exit: 4 }),
  step('schedule create bad --cron 61_9_2_1_* --handler h', { exit: 2 }),
  step('schedule create rehearsed --every 1h --handler h --dry-run'),
  step('schedule put often --every 90m --queue shut --payload {"a":1} --http http://localhost/x --header A:b'),
  step('schedule put often --every 2h --queue shut --payload {"a":1} --http http://localhost/x --header A:b'),
  step('schedule update often --priority 7 --reason It-may-wait. --unset payload'),
  step('schedule update often --priority 8 --if-version 1', { exit: 4 }),
  step('schedule update nobody --priority 8', { exit: 3 }),
  step('schedule show often'),
  step('schedule show nobody', { exit: 3 }),
  step('schedule list'),
  step('schedule list --limit 1'),
  step('schedule next year --count 3'),
  step('schedule hint often --every 5m --ttl 2h --reason Look-closer. --author me'),
  step('schedule hint year --every 5m --at 2090-01-01T00:00Z --reason Both.', { exit: 2 }),
  step('schedule hints often'),
  step('explain schedule often'),
  step('schedule clear-hints often'),
  step('schedule pause often --for 1h --reason Lunch.'),
  step('schedule run often --payload {"b":2}', { keeps: 'held' }),
  step('run show {held}'),
  step('schedule resume often'),
  step('schedule reset often'),
  step('schedule reset nobody', { exit: 3 }),
  step('schedule pause year'),
  step('explain schedule year'),
  step('schedule resume year'),
  step('schedule run often', { exit: 4 }),
  step('schedule create past --cron 0_9_1_1_* --zone Europe/Paris --queue shut --handler h'),
  step('schedule backfill past --from 2024-01-01T00:00Z --to 2026-01-02T00:00Z --dry-run'),
  step('schedule backfill past --from 2024-01-01T00:00Z --to 2026-01-02T00:00Z'),
  step('schedule backfill past --from 2023-01-01T00:00Z --to 2026-01-02T00:00Z'),
  step('schedule backfill often --from 2024-01-01T00:00Z --to 2026-01-02T00:00Z', { exit: 2 }),
  step('schedule versions often'),
  step('schedule revert often --to 1 --reason Back.'),
  step('schedule revert often'),
  step('schedule revert often --to 99', { exit: 3 }),
  step('schedule history often'),
  step('run enqueue --queue shut --idempotency-key k --priority 3 --command true', { keeps: 'first' }),
  step('run enqueue --queue shut --idempotency-key k --priority 3 --command true'),
  step('run enqueue --queue shut --idempotency-key k --priority 4 --command true', { exit: 4 }),
  step('run enqueue --queue shut --dedupe-key d --not-before 2090-01-01T00:00Z -- sh -c :', { keeps: 'second' }),
  step('run enqueue --queue fresh --handler nobody', { keeps: 'alone' }),
  step('run enqueue --queue shut --command true --dry-run'),
  step('run list'),
  step('run list --queue shut --status ready'),
  step('explain run {first}'),
  step('explain run {second}'),
  step('run attempts {first}'),
  step('run output {first}'),
  step('run cancel {first} --reason No-need.'),
  step('run cancel {first}'),
  step('run wait {first}', { exit: 1 }),
  step('explain run {first}'),
  step('run retry {first}', { keeps: 'again' }),
  step('run retry {second}', { exit: 4 }),
  step('run reset {second}', { exit: 4 }),
  step('run show r-3zzz', { exit: 3 }),
  step('run show nonsense', { exit: 2 }),
  step('schedule delete often --dry-run'),
  step('schedule delete often', { exit: 2 }),
  step('schedule delete often --yes', { keeps: 'deleted' }),
  step('schedule delete often --yes', { exit: 3 }),
  step('schedule list --deleted'),
  step('run list'),
  step('routine create pushed --type push --match {"ref":"main"} --schedule year --description What-is-pushed.'),
  step('routine create pushed --type push --match {"ref":"main"} --schedule year --description What-is-pushed.'),
  step('routine create pushed --schedule year', { exit: 4 }),
  step('routine create bad --schedule nobody', { exit: 3 }),
  step('routine create bad', { exit: 2 }),
  step(
    'routine create hook --run {"queue":"shut","target":{"command":["true"]},"payload":[1]} --signing {"style":"github","secret":{"secret":"HOOK"}} --no-enabled',
  ),
  step('routine create rehearsed --schedule year --dry-run'),
  step('routine list'),
  step('routine list --after hook --limit 1'),
  step('routine show pushed'),
  step('routine show hook'),
  step('routine show nobody', { exit: 3 }),
  step('routine fire pushed --type push --payload {"ref":"main"} --delivery-id d-1', { keeps: 'event' }),
  step('routine fire pushed --type push --payload {"ref":"main"} --delivery-id d-1'),
  step('routine fire pushed --type push --payload {"ref":"main"}'),
  step('routine fire pushed --payload {"ref":"main"}'),
  step('routine fire pushed --type push --payload {"ref":"dev"}'),
  step('routine fire hook --payload null'),
  step('routine enable hook'),
  step('routine fire hook --payload null'),
  step('routine fire nobody', { exit: 3 }),
  step('run list --queue shut --status ready'),
  step('routine events pushed'),
  step('routine events pushed --limit 2'),
  step('routine events hook'),
  step('routine disable hook --reason Enough.'),
  step('routine disable hook --reason Enough.'),
  step('routine delete hook', { exit: 2 }),
  step('routine delete hook --yes'),
  step('routine delete hook --yes', { exit: 3 }),
  step('import crontab - --queue shut --zone UTC --dry-run', { stdin: crontab, exit: 1 }),
  step('import crontab - --queue shut --zone UTC', { stdin: crontab, exit: 1 }),
  step('import crontab - --queue shut --zone UTC --partial', { stdin: crontab }),
  step('import crontab - --queue shut --zone Asia/Tokyo', { stdin: crontab, exit: 4 }),
  step('import cool-workflow --queue-file - --into shut', { stdin: queueFile, exit: 1 }),
  step('import cool-workflow --queue-file - --into shut --partial', { stdin: queueFile }),
  step('import cool-workflow --policy-file -', { stdin: '{"maxConcurrent":1.5}', exit: 1 }),
  step('import cool-workflow --tasks-file -', { stdin: '{"tasks":', exit: 2 }),
  step('token create ci --scope operate --expires 90d'),
  step('token create ci', { exit: 4 }),
  step('token create eternal --scope everything', { exit: 2 }),
  step('token list'),
  step('token list --after ci'),
  step('token revoke ci'),
  step('token list --revoked'),
  step('config list'),
  step('token revoke ci', { exit: 3 }),
  step('notify --on-failure {"http":{"url":"http://localhost/x"}} --on-park {"command":["echo"]}'),
  step('notify --unset on-park --dry-run'),
  step('notify --on-failure {"handler":"h"}', { exit: 2 }),
  step('notify test --event park'),
  step('notify test --event overdue', { exit: 3 }),
  step('notify --on-failure {"http":{"url":"http://localhost/x","format":"slack"}}'),
  step('notices --limit 1'),
  step('notices --before nothing', { exit: 2 }),
  step('notify --unset on-failure,on-park'),
  step('worker list'),
  step('worker list --stopped'),
  step('worker list --after nobody', { exit: 2 }),
  step('doctor', { exit: 1 }),
]

/** What only a worker makes of runs: one that completes, and one that is parked and does not get further by a reset. */
export const workedSteps: readonly Step[] = [
  step('queue set one-try --max-concurrent 2 --max-attempts 1'),
  step('run enqueue --queue one-try -- sh -c echo_hi;echo_there', { keeps: 'good' }),
  step('run wait {good} --timeout 60s'),
  step('run output {good}'),
  step('run output {good} --follow'),
  step('run attempts {good}'),
  step('explain run {good}'),
  step('run enqueue --queue one-try --command exit_3', { keeps: 'bad' }),
  step('run wait {bad} --timeout 60s', { exit: 1 }),
  step('run list --status parked'),
  step('explain run {bad}'),
  step('run reset {bad}'),
  step('run wait {bad} --timeout 60s', { exit: 1 }),
  step('run retry {bad}'),
  step('run wait {bad} --timeout 60s', { exit: 1 }),
  step('run attempts {bad}'),
  step('schedule create soon --every 2h --start-now --max-runs 1 --queue one-try -- echo soon'),
]

/** The verbs that no step types. */
export function missing(operations: readonly AnyOperation[]): string[] {
  const typed = [...steps, ...hostSteps, ...workedSteps].map(({ words }) => words({}).join(' '))
  const offered = operations.filter(({ doors }) => doors.cli === true).map((each) => commandOf(each).join(' '))
  return offered.filter((words) => !typed.some((line) => `${line} `.startsWith(`${words} `)))
}
