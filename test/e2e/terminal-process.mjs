/** A terminal in a process of its own: types commands one after the other, as somebody fast would, and tells what came of each. */
import { systemClock } from '../../dist/core/clock.js'
import { main } from '../../dist/doors/cli/main.js'
import { openSession, openWorker } from '../../dist/sessions.js'

const [folder = '', ...lines] = process.argv.slice(2)

async function type(words) {
  const told = { stdout: '', stderr: '' }
  const screen = (name) => ({
    write: (text) => {
      told[name] += text
    },
    on: () => undefined,
  })
  const env = process.env
  const exit = await main(
    words,
    {
      env,
      folder,
      stdin: process.stdin,
      stdout: screen('stdout'),
      stderr: screen('stderr'),
      clock: systemClock,
      open: (opening) => openSession(opening, { env, folder }),
      work: openWorker,
    },
    '0',
  )
  return { words, exit, ...told }
}

/** What was answered last, so that a line can name it: a run that somebody else may have ended meanwhile. */
let run = 'r-11'

for (const line of lines) {
  const words = line.split(' ').map((word) => (word === '{run}' ? run : word.replaceAll('·', ' ')))
  const said = await type(words)
  const [, made] = /"id": "(r-\w+)"/.exec(said.stdout) ?? []
  run = made ?? run
  process.send?.(said)
}
process.disconnect?.()
