import { writeSync } from 'node:fs'
import { systemClock } from '../../../dist/core/clock.js'
import { commandExecutor } from '../../../dist/targets/command/command-executor.js'
import { start } from '../../../dist/targets/command/start-program.js'
import { Tether } from '../../../dist/targets/command/tether.js'

/**
 * A worker of which only the executor is left: it executes a command, says what the command says, and stays until it is
 * killed. `diesBeforeLeave` kills it at the instant at which the command waits for the tether to hold it, and with
 * `startsThree` it starts the command three times and lets go of the second, as of one that is over.
 */
const { target, killAfterMs, diesBeforeLeave, startsThree } = JSON.parse(process.argv[2] ?? '{}')

process.on('message', () => process.send('here'))

const started = (tether) => {
  const program = { argv: target.command, cwd: '/', environment: { PATH: process.env.PATH ?? '' } }
  return start({ program, input: null, tether, killAfterMs })
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
} else if (startsThree) {
  const tether = new Tether(killAfterMs)
  const groups = [await started(tether), await started(tether), await started(tether)].map(({ group }) => group.id)
  tether.letGo(groups[1])
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
