import { createInterface } from 'node:readline'
import { BelfryError } from '../../core/error.ts'
import { printable } from './show/terminal-sheet.ts'
import type { World } from './world.ts'

/** Asks somebody at a terminal whether he means it. Where nobody can be asked, `--yes` must have said so. */
export async function confirm(question: string, { stdin, stderr }: Pick<World, 'stdin' | 'stderr'>): Promise<void> {
  if (stdin.isTTY !== true || stderr.isTTY !== true) {
    throw new BelfryError('invalid', `${question} Nobody can be asked here.`, {
      hint: 'If that is what you mean, say so with --yes.',
    })
  }
  const answer = await answerTo(`${printable(question)} [y/N] `, { stdin, stderr })
  if (/^y(es)?$/i.test(answer.trim())) return
  throw new BelfryError('failure', 'Nothing was changed.')
}

/** Ctrl-C and Ctrl-D close the question without an answer, and both mean no. */
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
