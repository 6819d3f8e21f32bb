import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Terminal } from '../../doors/cli/terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = new Terminal()
  mkdirSync(join(terminal.folder, 'notes'))
})
afterEach(() => terminal.remove())

const belfry = (command: string | readonly string[]) =>
  terminal.belfry(command, { env: { XDG_STATE_HOME: join(terminal.folder, 'state') } })

it('lists of objects are JSON at the command line, whatever commas they have', async () => {
  const lists: [string, object[]][] = [
    ['--auto-seed', [{ match: '**/{a,b}.md', steer: 'Short,plain.' }]],
    ['--phases', [{ name: 'writer', writes: ['_content', '_state'], timeout: '5m' }]],
    ['--targets', [{ phase: 'critic', target: { handler: 'review' } }]],
  ]
  for (const [at, [flag, list]] of lists.entries()) {
    const { exit } = await belfry([...`corpus create c${at} --handler write ${flag}`.split(' '), JSON.stringify(list)])
    expect([flag, exit]).toEqual([flag, 0])
  }
  const shown = await terminal.json<Record<string, unknown>>('corpus show c0')
  expect(shown.autoSeed).toEqual(lists[0]?.[1])
  for (const [flag] of lists) {
    const { exit, stderr } = await belfry(`corpus create wrong --handler write ${flag} a,b`)
    expect([exit, stderr.includes(flag), stderr.includes('a list such as [{')]).toEqual([2, true, true])
  }
})

it('a drain without a budget is said with --without-budget, which a refused --no-budget names', async () => {
  const { exit, stderr } = await belfry('corpus create books --handler write --drain --no-budget')
  expect([exit, stderr]).toEqual([2, expect.stringContaining('--without-budget')])
  expect((await belfry('corpus create books --handler write --drain --without-budget')).exit).toBe(0)
})

it('a corpus is shown with all that defines it', async () => {
  terminal.write('critic.md', 'Be kind.')
  const phases = [{ name: 'critic', writes: ['_feedback'], timeout: '5m' }]
  const targets = [{ phase: 'critic', target: { handler: 'review' } }]
  const lists = ['--phases', JSON.stringify(phases), '--targets', JSON.stringify(targets), '--ignore', 'drafts']
  const seeds = ['--auto-seed', '[{"match":"**/*.md"}]', '--prompts', '{"critic":"critic.md"}', '--max-archive', '7']
  const { exit } = await belfry([
    'corpus',
    'create',
    'books',
    '--root',
    'notes',
    '--handler',
    'write',
    ...lists,
    ...seeds,
  ])
  expect(exit).toBe(0)
  const { stdout } = await belfry('corpus show books')
  for (const fact of ['drafts', '**/*.md', 'critic.md', 'review', 'critic (_feedback, 5m)', '7 of an item'])
    expect([fact, stdout.includes(fact) || stdout]).toEqual([fact, true])
})

it('a dry run of a config file leaves the root of a new corpus without a mark', async () => {
  terminal.write('belfry.yaml', 'source: ops\ncorpora:\n  books: { root: notes, target: { handler: write } }\n')
  const mark = join(terminal.folder, 'notes/.meta')
  expect((await belfry('apply --dry-run')).exit).toBe(0)
  expect(existsSync(mark)).toBe(false)
  expect((await belfry('apply')).exit).toBe(0)
  expect(existsSync(mark)).toBe(true)
})
