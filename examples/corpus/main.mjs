// A corpus in a temporary folder, whose agent is a process: from an empty tree to all fresh, and then what each change costs.
//
//   node main.mjs
//
// It prints the phases that ran after each change, and exits with 1 if they are not the right ones.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Belfry } from 'belfry'

const agent = fileURLToPath(new URL('agent.mjs', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'belfry-notes-'))
const write = (path, text) => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const belfry = await Belfry.open({ store: 'memory:', log: false })

/** The phase that a run was, once it has ended. */
async function ended(run) {
  await belfry.runs.wait(run)
  const { status, end, result } = await belfry.runs.get(run)
  if (status !== 'completed') throw new Error(`${run} ${status}: ${end?.reason}`)
  return `${result.value.item} ${result.value.phase}`
}

/** Does what the tick does every half hour, until nothing is owed; answers the phases that ran. */
async function settled() {
  const ran = []
  for (;;) {
    const { picked } = await belfry.corpora.tick('notes')
    if (picked === null) return ran
    ran.push(await ended(picked.run))
  }
}

const whole = (item) => [`${item} architect`, `${item} builder`, `${item} critic`]
const rebuilt = (item) => whole(item).slice(1)

const steps = [
  {
    says: 'an empty tree',
    change: () => undefined,
    expected: [],
  },
  {
    says: 'three folders with a README',
    change: () => {
      for (const path of ['faq', 'guide', 'guide/install']) write(`${path}/README.md`, `About ${path}.`)
    },
    // From the leaves: the guide reads the content of its child.
    expected: [...whole('guide/install'), ...whole('faq'), ...whole('guide')],
  },
  {
    says: 'a file touched, its text as before',
    change: () => utimesSync(join(root, 'faq/README.md'), new Date(), new Date()),
    expected: [],
  },
  {
    says: 'a file edited',
    change: () => write('faq/README.md', 'About questions.'),
    expected: rebuilt('faq'),
  },
  {
    says: 'a steer edited',
    change: () => belfry.corpora.update('notes', 'faq', { steer: 'Shorter, for operators.' }),
    expected: whole('faq'),
  },
  {
    says: 'a child rebuilt',
    change: () => belfry.corpora.trigger('notes', 'guide/install', { from: 'builder' }),
    // The agent counts its builds: the content is another one, and the guide reads it.
    expected: [...rebuilt('guide/install'), ...rebuilt('guide')],
  },
]

try {
  await belfry.corpora.create({
    name: 'notes',
    root,
    target: { command: [process.execPath, agent] },
    autoSeed: [{ match: '**/README.md' }],
    // Changes of a child reach its parent at once; the default of 6 hours gathers them.
    propagateAfter: '1ms',
  })
  await belfry.start()
  for (const { says, change, expected } of steps) {
    const changed = await change()
    const ran = [...(changed?.run ? [await ended(changed.run)] : []), ...(await settled())]
    console.log(`${says}: ${ran.length === 0 ? 'nothing' : ran.join(', ')}`)
    if (ran.join() !== expected.join()) {
      console.error(`expected: ${expected.join(', ') || 'nothing'}`)
      process.exitCode = 1
    }
  }
  const { items } = await belfry.corpora.list('notes')
  console.log(items.map(({ path, status }) => `${path} is ${status}`).join(', '))
} finally {
  await belfry.close()
  rmSync(root, { recursive: true, force: true })
}
