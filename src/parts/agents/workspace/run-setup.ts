import { BelfryError } from '../../../core/error.ts'
import type { Attempt } from '../../../targets/attempt.ts'
import { listen } from '../../../targets/command/output-stream.ts'
import { type Program, startProblem } from '../../../targets/command/start-problem.ts'
import { start } from '../../../targets/command/start-program.ts'
import type { Tether } from '../../../targets/command/tether.ts'
import type { Secret } from '../../../targets/secret.ts'

export interface Setup {
  readonly attempt: Attempt
  readonly command: string | readonly string[]
  readonly around: Pick<Program, 'cwd' | 'environment'>
  readonly secrets: readonly Secret[]
  readonly tether: Tether
  readonly killAfterMs: number
}

/**
 * Runs the command that prepares a workspace, before the agent. The output of the command is part of the run's output. Throws if the
 * command fails.
 */
export async function runSetup({ attempt, command, around, secrets, tether, killAfterMs }: Setup): Promise<void> {
  const argv = (typeof command === 'string' ? ['/bin/sh', '-c', '--', command] : command) as Program['argv']
  const program = { argv, ...around }
  const problem = await startProblem(program)
  if (problem !== null) throw new BelfryError('unavailable', `The set-up of the workspace cannot start. ${problem}`)
  const { stdout, stderr, group, exited } = await start({ program, input: null, tether, killAfterMs })
  const say = (text: string) => attempt.output(text)
  const drained = () => attempt.drained()
  const streams = [stdout, stderr].map((stream) => listen({ stream, secrets, say, drained }))
  const stop = () => group.end()
  attempt.signal.addEventListener('abort', stop)
  if (attempt.signal.aborted) stop()
  const { exitCode, signal } = await exited
  await group.endRest()
  tether.letGo(group.id)
  attempt.signal.removeEventListener('abort', stop)
  await Promise.all(streams.map((stream) => stream.finish()))
  if (exitCode === 0) return
  const how = exitCode === null ? `was ended by ${signal}` : `ended with exit code ${exitCode}`
  throw new BelfryError('unavailable', `The set-up of the workspace ${how}.`)
}
