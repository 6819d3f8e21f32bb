import { z } from 'zod'
import { durationFields, durationOf } from '../duration-input.ts'
import { runId } from '../fields.ts'
import { operation } from '../operation.ts'
import { refuse } from '../problem.ts'
import { waitLocal } from '../wait-input.ts'
import { runSaid } from './output.ts'
import { runOf } from './view.ts'

const waitInput = z.strictObject({
  id: runId,
  ...durationFields('timeout', 'After how long the waiting is given up. Default: never.'),
})

/** How long somebody waits for a run, and what ends the waiting. */
export type WaitInput = Omit<z.input<typeof waitInput>, 'id'> & z.input<typeof waitLocal>

export const wait = operation({
  noun: 'run',
  verb: 'wait',
  says: 'Answers with the run once it has ended or is parked.',
  request: 'a wait',
  effect: 'read',
  scope: 'read',
  input: waitInput,
  takes: ['id'],
  local: waitLocal,
  output: runSaid,
  errors: ['invalid', 'not-found'],
  doors: {
    library: true,
    cli: true,
    http: 'A request is held open for a minute at most: ask for the run with wait, as the client does.',
    mcp: 'A tool answers within a minute, and a run may take hours: ask for the run with wait.',
  },
  examples: [{ id: 'r-11' }, { id: 'r-11', timeout: '90s' }],
  async judge(context, { value, problems: found }, { signal }) {
    const problems = [...found]
    const timeoutMs = durationOf(value, 'timeout', problems)
    refuse('The wait', problems)
    return runOf(await context.waits.wait(value.id as string, { timeoutMs, signal }))
  },
})
