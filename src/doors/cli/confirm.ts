import { createInterface } from 'node:readline'
import { BelfryError } from '../../core/error.ts'
import { printable } from './show/terminal-sheet.ts'
import type { World } from './world.ts'

/** Asks for confirmation at a terminal. Without a terminal, `--yes` is required. */
export async function confirm(question: string, { stdin, stderr }: Pick<World, 'stdin' | 'stderr'>): Promise<void> {
  if (stdin.isTTY !== true || stderr.isTTY !== true) {
    throw new BelfryError('invalid', `${question} There is no terminal to ask at.`, {
      hint: 'To confirm, add --yes.',
    })
  }
  const answer = await answerTo(`${printable(question)} [y/N] `, { stdin, stderr })
  if (/^y(es)?$/i.test(answer.trim())) return
  throw new BelfryError('failure', 'Nothing was changed.')
}

/** Ctrl-C and Ctrl-D close the prompt without an answer; both mean no. */
function answerTo(question: string, { stdin, stderr }: Pick<World, 'stdin' | 'stderr'>): Promise<string> {
  const asked = createInterface({ input: stdin, output: stderr })
  return new Promise((resolve) => {
    let isAnswered = false
    asked.on('close', () => {
      if (!isAnswered) stderr.write('\n')
      resolve('')
    })
    asked.question(question, (answer) => {
      isAnswered = true
      resolve(answer)
      asked.close()
    })
  })
}
