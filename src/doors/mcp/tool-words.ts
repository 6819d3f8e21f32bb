/** What the tools of the default set say of themselves, to a model that knows nothing else of Belfry. */
export const toolWords: Readonly<Record<string, string>> = {
  schedule_put:
    'Create a schedule, or replace the one with this name: a field that is left out goes back to its default, so look first. Timing is one of cron, every, at.',
  schedule_list: 'List schedules with their timing, next run and whether they are paused or failing.',
  schedule_get: 'Show one schedule: timing, target, payload, rules and state.',
  schedule_explain:
    'Explain why a schedule runs next when it does, or why it does not run, and what would change that.',
  schedule_pause:
    'Pause a schedule for a time, until an instant, or until schedule_resume. Runs that have started finish.',
  schedule_resume: 'End all pauses of a schedule. Occurrences that passed meanwhile are not made up for.',
  schedule_run:
    'Run a schedule once now, beside its timing. While a run of it is live its overlap rule decides; force overrides it.',
  schedule_delete:
    'Delete a schedule and cancel its waiting runs. A run that has started finishes, unless cancelLeased.',
  run_list:
    'List runs, newest first: status, schedule, and why a run waits or failed. Filter by schedule, queue, status.',
  run_get: 'Show one run: status, payload, result, and with output: true what its last attempt printed.',
  run_enqueue: 'Enqueue one run without a schedule. The same idempotencyKey with the same input gives the same run.',
  run_cancel: 'Cancel a run: a waiting one ends at once, the worker of a started one is asked to stop.',
  run_retry: 'Make a new run of one that has ended, or put a parked one back in line.',
  queue_list: 'List queues: ceiling, runs at work, whether paused.',
  store_doctor:
    'Check everything that may keep work from running, and say what to do. fix: true mends what is safe to mend.',
}
