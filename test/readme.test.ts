import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cron, nextRun } from '../src/core.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The examples of the README, with what they say they answer. */
it('the example of the calendar answers what the README says', () => {
  expect(readme).toContain(`cron('30 2 * * *', 'America/New_York').next(Date.parse('2026-03-08T05:00:00Z'))`)
  const answer = cron('30 2 * * *', 'America/New_York').next(Date.parse('2026-03-08T05:00:00Z'))
  expect(readme).toContain(`// ${answer}: 02:30 does not exist that night`)
})

it('the example of the governor answers what the README says', () => {
  const [, input] = /nextRun\((\{[\s\S]*?\n\})\)/.exec(readme) ?? []
  const { at, source, trail } = nextRun(Function(`return ${input}`)())
  expect(new Date(at ?? 0).toISOString()).toBe('2026-01-05T09:00:30.000Z')
  expect(readme).toContain(`// at 09:00:30, source '${source}'`)
  expect(trail.length).toBeGreaterThan(1)
})

const programs = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code)

it('has a first program and one for tests', () => expect(programs).toHaveLength(2))

it.each(programs)('this program of the README runs and says what it says it says:\n%s', (code) => {
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

it('every npm command that the documents name exists', () => {
  const contributing = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
  const named = [...`${readme}\n${contributing}`.matchAll(/npm (?:run )?(start|test|[a-z]+:[a-z]+|dst)\b/g)].map(
    ([, name]) => name,
  )
  expect(named.filter((name) => packageJson.scripts[name ?? ''] === undefined)).toEqual([])
  expect(named).toContain('test')
})
