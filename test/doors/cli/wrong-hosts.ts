import type { WrongInputs } from './wrong-inputs-table.ts'

export const wrongHosts: WrongInputs = {
  about: 'Outside hosts',
  cases: [
    [2, 'a lease for nobody', 'belfry sched lease'],
    [2, 'a lease of a kind that does not exist', 'belfry sched lease builder --kinds comand,http'],
    [2, 'a lease of none', 'belfry sched lease builder --limit 0'],
    [2, 'a lease of one and a half', 'belfry sched lease builder --limit 1.5'],
    [2, 'a lease that waits for longer than a minute', 'belfry sched lease builder --wait 2m'],
    [2, 'a drain of a queue for no host', 'belfry queue drain letters'],
    [2, 'a plan for an instant without an offset', 'belfry sched plan --now 2026-12-01T09:00'],
    [2, 'an end of what is no lease', 'belfry sched complete r-15'],
    [3, 'an end of a lease that nobody gave', 'belfry sched complete r-3zzz.1.00000000000000000000000000000000'],
    [2, 'a reason for a clean release', 'belfry sched release r-15.1.0123456789abcdef --reason tired'],
    [2, 'a failure without a reason', 'belfry sched release r-15.1.0123456789abcdef --failed'],
    [2, 'a failure with yes', 'belfry sched release r-15.1.0123456789abcdef --failed yes'],
    [2, 'a park without a reason', 'belfry sched park r-15.1.0123456789abcdef'],
    [2, 'a reset of nothing', 'belfry sched reset'],
    [2, 'a reset by two ways', 'belfry sched reset --ids r-15 --queue mail'],
    [3, 'another priority for nobody', 'belfry run reprioritise r-3zzz --priority 1'],
    [2, 'a priority with a fraction', 'belfry run reprioritise r-15 --priority 1.5'],
  ],
}
