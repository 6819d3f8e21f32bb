import { hostname } from 'node:os'
import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { runId } from '../../../operations/fields/basic-fields.ts'
import { presentRun } from '../../../operations/not-found.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { count, flag, text } from '../../../operations/schema/output-schema.ts'
import { agentAttempts, type KeptFacts } from '../attempt-rows.ts'

/** `run screen` shows at most this many lines. */
const linesMax = 200

const common = { noun: 'run', takes: ['id'], errors: ['invalid', 'not-found', 'conflict'] } as const

const asItIs = 'A screen is shown as it is: secrets on it are not redacted.'

const screenSeen = z.strictObject({
  id: text('The id of the run.'),
  session: text('The name of the terminal.'),
  open: flag('Whether the terminal is there; it closes when the agent ends.'),
  lines: count('How many lines there are.'),
  text: text('The last lines of the terminal, with colours as the program wrote them.'),
})

export const screen = operation({
  ...common,
  verb: 'screen',
  effect: 'read',
  scope: 'read',
  says: 'Show the last 200 lines of the terminal that an agent runs in.',
  request: 'a request for a screen',
  doors: { ...everyDoor, http: asItIs, mcp: asItIs },
  input: z.strictObject({ id: runId }),
  output: screenSeen,
  show: ({ text: seen, open, session }) => (open ? `${seen.trimEnd()}\u001b[0m` : `${session} is closed`),
  examples: [{ id: 'r-11' }],
  async run(context, { id }) {
    const { socket, session } = await terminalOf(context, id)
    const { paneOf, tmux } = await import('./tmux.ts')
    const asked = ['capture-pane', '-p', '-e', '-J', '-t', paneOf(session), '-S', `-${linesMax}`]
    const seen = await tmux(socket, asked).catch(() => null)
    if (seen === null) return { id, session, open: false, lines: 0, text: '' }
    const lines = seen.trimEnd().split('\n').slice(-linesMax)
    return { id, session, open: true, lines: lines.length, text: `${lines.join('\n')}\n` }
  },
})

const here: Doors = {
  ...everyDoor,
  http: 'It takes over the terminal of the caller.',
  mcp: 'It takes over the terminal of the caller.',
}

export const attach = operation({
  ...common,
  verb: 'attach',
  effect: 'write',
  scope: 'admin',
  says: 'Attach this terminal to the one that an agent runs in: to look, or with interact to type.',
  request: 'an attachment',
  doors: here,
  input: z.strictObject({
    id: runId,
    interact: z.boolean().describe('Send what is typed to the agent. Default: false.').optional(),
  }),
  output: z.strictObject({
    id: text('The id of the run.'),
    session: text('The name of the terminal.'),
    attached: flag('Whether it was attached; it is not where the caller has no terminal.'),
    command: text('The command that attaches a terminal.'),
  }),
  show: ({ attached: was, session, command }) =>
    was ? `detached from ${session}` : `run it in a terminal: ${command}`,
  isOk: ({ attached: was }) => was,
  examples: [{ id: 'r-11' }, { id: 'r-11', interact: true }],
  async run(context, { id, interact = false }) {
    const { socket, session } = await terminalOf(context, id)
    const { attached } = await import('./attach-terminal.ts')
    return { id, session, ...(await attached({ socket, session, isReadOnly: !interact })) }
  },
})

/** The terminal of a run that is at work on this machine. */
async function terminalOf(context: OperationContext, id: string): Promise<NonNullable<KeptFacts['terminal']>> {
  const { status, fence, end } = await presentRun(context, id)
  const attempt = (await context.store.look(agentAttempts, id)).get(fence)
  const terminal = attempt?.facts.terminal
  const isAtWork = status === 'leased'
  const hint =
    end === null
      ? `Follow it with \`belfry run output -f ${id}\`.`
      : `Read what it printed with \`belfry run output ${id}\`.`
  if (!isAtWork && terminal !== undefined) throw none(`Run ${id} is ${status}: its terminal is closed.`, hint)
  if (terminal === undefined)
    throw none(`Run ${id} has no terminal: only agents with \`terminal: tmux\` have one.`, hint)
  if (terminal.machine === hostname()) return terminal
  throw none(`The terminal of run ${id} is on the machine ${terminal.machine}.`, `Run the same command there. ${hint}`)
}

function none(message: string, hint: string): BelfryError {
  return new BelfryError('conflict', message, { hint })
}
