import { z } from 'zod'
import type { TargetKind } from '../kind.ts'
import { valueForm } from '../secret-schema.ts'
import { absentPaths } from './absent-paths.ts'
import { commandTargetProblems, resolveCommandTarget } from './command-target.ts'

const form = z.strictObject({
  command: z
    .union([z.string().min(1), z.tuple([z.string().min(1)], valueForm)])
    .describe('A program and its arguments, or one line for sh -c.'),
  cwd: z.string().min(1).describe('The folder it runs in. Default: the folder of the worker.').optional(),
  env: z.record(z.string(), valueForm).describe('Additional environment variables.').optional(),
})

/** Programs, started with the rights of the worker. */
export const commandKind: TargetKind = {
  name: 'command',
  called: 'a command',
  form,
  problems: commandTargetProblems,
  resolved: resolveCommandTarget,
  absent: absentPaths,
  words({ command, cwd }, word) {
    // The command in shell syntax, so that it can be tried by hand; a line for sh stays as it is.
    const text = Array.isArray(command)
      ? command.map((each) => argumentText(each, word)).join(' ')
      : `${command} by sh -c`
    return `runs ${text}${cwd === undefined ? '' : ` in ${cwd}`}`
  },
  flags: [
    {
      flag: '--command',
      value: '[line]',
      field: 'command',
      says: 'A command: one line for sh, or a program and its arguments after --.',
    },
    { flag: '--cwd', value: '<folder>', field: 'cwd', says: 'The folder that the command runs in.' },
    {
      flag: '--env',
      value: '<NAME=value>',
      field: 'env',
      reads: 'pair',
      says: 'An additional environment variable of the command; may be repeated.',
    },
    {
      flag: '--env-secret',
      value: '<NAME=SECRET>',
      field: 'env',
      reads: 'secret',
      says: 'An environment variable with the value of a secret, read when the run starts; may be repeated.',
    },
  ],
  takesWords: true,
  timeoutMs: 3_600_000,
  startsPrograms: true,
  message: { form, problems: commandTargetProblems },
  reportsUsage: 'in-answer',
  gives: ['exitCode'],
  async executor({ secrets, killAfterMs, messageOf }) {
    const { commandExecutor } = await import('./command-executor.ts')
    return { execute: commandExecutor({ secrets, killAfterMs, messageOf }) }
  },
}

/** An argument that is not text is a secret. */
function argumentText(argument: unknown, word: (text: string) => string): string {
  return typeof argument === 'string' ? word(argument) : `{secret ${(argument as { secret?: unknown } | null)?.secret}}`
}
