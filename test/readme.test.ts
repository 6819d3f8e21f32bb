import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { stepsOf } from '../scripts/readme-steps.mjs'
import { cron, nextRun } from '../src/core.ts'
import { Terminal } from './doors/cli/terminal.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const library = readFileSync(new URL('../docs/library.md', import.meta.url), 'utf8')
const terminalPage = readFileSync(new URL('../docs/terminal.md', import.meta.url), 'utf8')
const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

it('fits on two screens', () => expect(readme.split('\n').length).toBeLessThanOrEqual(100))

/** The examples of the library's page, with what they say they answer. */
it('the example of the calendar answers what the page says', () => {
  expect(library).toContain(`cron('30 2 * * *', 'America/New_York').next(Date.parse('2026-03-08T05:00:00Z'))`)
  const answer = cron('30 2 * * *', 'America/New_York').next(Date.parse('2026-03-08T05:00:00Z'))
  expect(library).toContain(`// ${answer}: 02:30 does not exist that night`)
})

it('the example of the governor answers what the page says', () => {
  const [, input] = /nextRun\((\{[\s\S]*?\n\})\)/.exec(library) ?? []
  const { at, source, trail } = nextRun(Function(`return ${input}`)())
  expect(new Date(at ?? 0).toISOString()).toBe('2026-01-05T09:00:30.000Z')
  expect(library).toContain(`// at 09:00:30, source '${source}'`)
  expect(trail.length).toBeGreaterThan(1)
})

const programs = [...`${readme}\n${library}`.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code)

it('has a first program and one for tests', () => expect(programs).toHaveLength(2))

it.each(programs)('this program runs and says what it says it says:\n%s', (code) => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'program.mjs')
  const built = (file: string) => JSON.stringify(new URL(`../dist/${file}.js`, import.meta.url).href)
  const found = code.replace(`'belfry'`, built('index')).replace(`'belfry/testing'`, built('testing'))
  writeFileSync(program, found)
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], { cwd: folder, encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)/g)].map(([, words]) => words)
  expect(said.length).toBeGreaterThan(0)
  expect(stdout.trim().split('\n')).toEqual(said)
})

const belfry = new URL('../dist/belfry.js', import.meta.url).pathname

it('what the README tells a newcomer to type ends in a fired schedule and its explanation', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-newcomer-'))
  const { start, typed } = stepsOf(readme)
  expect(start).toBe('npm ci && npm start')
  const worker = spawn(process.execPath, [belfry, 'up'], { cwd: folder })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  onTestFinished(async () => {
    worker.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  let heard = ''
  const isSaid = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => pattern.test(heard) && resolve()
      worker.stdout.on('data', look)
      look()
    })
  worker.stdout.on('data', (chunk) => {
    heard += chunk
  })
  await isSaid(/works on/)
  const answers: string[] = []
  for (const line of typed) {
    if (/run list|explain/.test(line)) await isSaid(/completed/)
    const command = line.replace(/^npx belfry/, '"$0" "$1"')
    const options = { cwd: folder, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, belfry], options)
    expect({ line, status, stderr }).toMatchObject({ line, status: 0 })
    answers.push(stdout)
  }
  expect(answers.find((answer) => answer.includes('completed'))).toBeDefined()
  expect(answers.at(-1)).toContain('Why\n')
})

it('every command that the README and the page of the command line name is one, with flags that it has', async () => {
  const terminal = new Terminal()
  onTestFinished(() => terminal.remove())
  const named = [
    ...`${readme}\n${terminalPage}`.matchAll(/`(?:npx )?belfry ((?:up|schedule|run|queue|explain|doctor)\b[^`]*)`/g),
  ]
  expect(named.length).toBeGreaterThan(8)
  for (const [, command = ''] of named) {
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
    const cut = words.indexOf('--')
    const flags = cut < 0 ? words : words.slice(0, cut)
    // Help is told only of a command line that could be read up to there.
    const { exit, stdout, stderr } = await terminal.belfry([...flags, '--help'])
    expect({ command, exit, stderr }).toEqual({ command, exit: 0, stderr: '' })
    for (const flag of flags.filter((word) => word.startsWith('--'))) expect(stdout).toContain(flag)
  }
  // A line that makes a schedule can be typed as it stands in a clone.
  const clone = { folder: fileURLToPath(new URL('..', import.meta.url)) }
  const made = named.map(([, command = '']) => command).filter((command) => /^schedule (create|put) /.test(command))
  expect(made.length).toBeGreaterThan(2)
  for (const command of made) {
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
    const before = ['--store', `sqlite:${terminal.folder}/b.db`]
    const rehearsed = words.toSpliced(2, 0, '--dry-run')
    const { exit, stderr } = await terminal.belfry([...before, ...rehearsed], clone)
    expect({ command, exit, stderr }).toMatchObject({ command, exit: 0 })
  }
})

it('every npm command that the documents name exists', () => {
  const contributing = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
  const named = [...`${readme}\n${contributing}`.matchAll(/npm (?:run )?(start|test|[a-z]+:[a-z]+|dst)\b/g)].map(
    ([, name]) => name,
  )
  expect(named.filter((name) => packageJson.scripts[name ?? ''] === undefined)).toEqual([])
  expect(named).toContain('test')
})

it('no page says that outside hosts are not built, or that refusals tell more than they do', () => {
  const [words = '', hosts = ''] = ['words', 'hosts'].map((page) =>
    readFileSync(new URL(`../docs/${page}.md`, import.meta.url), 'utf8'),
  )
  expect(words).toMatch(/\*\*outside host\*\* \| .*leases runs over HTTP/)
  for (const page of [words, hosts, readme]) expect(page).not.toMatch(/not built yet|every field that is wrong/)
})
