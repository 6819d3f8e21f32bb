import { writeSync } from 'node:fs'
import { systemClock } from '../../../dist/core/clock.js'
import { commandExecutor } from '../../../dist/targets/command/command-executor.js'
import { start } from '../../../dist/targets/command/start-program.js'
import { Tether } from '../../../dist/targets/command/tether.js'

/**
 * A worker of which only the executor is left: it executes a command, says what the command says, and stays until it is
 * killed. `diesBeforeLeave` kills it at the instant at which the command waits for the tether to hold it, and with `each` it
 * starts the command once for each time after TERM, and lets go of one that has none, as of one that is over.
 */
const { target, killAfterMs, diesBeforeLeave, each } = JSON.parse(process.argv[2] ?? '{}')

process.on('message', () => process.send('here'))

const started = (tether, afterMs = killAfterMs) => {
  const program = { argv: target.command, cwd: '/', environment: { PATH: process.env.PATH ?? '' } }
  return start({ program, input: null, tether, killAfterMs: afterMs })
}

const deadly = {
  async hold(group) {
    writeSync(1, `gate ${group}\n`)
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  },
}

if (diesBeforeLeave) {
  await started(deadly)
} else if (each) {
  const tether = new Tether()
  const groups = []
  for (const afterMs of each) groups.push((await started(tether, afterMs ?? killAfterMs)).group.id)
  for (const [index, afterMs] of each.entries()) if (afterMs === null) tether.letGo(groups[index])
  writeSync(1, `groups ${groups.join(' ')}\n`)
} else {
  await commandExecutor({ killAfterMs })({
    runId: 'r1',
    fence: 1,
    claimId: 'of a worker that dies',
    queue: 'default',
    scheduleId: null,
    plannedAt: 0,
    source: 'direct',
    idempotencyKey: 'r1',
    traceparent: '',
    target,
    payload: undefined,
    signal: new AbortController().signal,
    clock: systemClock,
    output: (text) => writeSync(1, text),
    drained: async () => undefined,
  })
  writeSync(1, 'ended\n')
}
setInterval(() => undefined, 1e6)
