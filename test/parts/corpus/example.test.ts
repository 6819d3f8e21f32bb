import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const timeout = 120_000

it('the example of a corpus prints the phases that each change costs, as its page says, and they are the right ones', {
  timeout,
}, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}examples/corpus/main.mjs`], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(readFileSync(`${root}examples/corpus/README.md`, 'utf8')).toContain(`\`\`\`text\n${stdout}\`\`\``)
})

it('the commands of a first synthesis on the page of corpora, typed as they stand, end with its content', {
  timeout,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-first-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'belfry'), `#!/bin/sh\nexec "${process.execPath}" "${root}dist/belfry.js" "$@"\n`, {
    mode: 0o755,
  })
  const page = readFileSync(`${root}docs/corpus.md`, 'utf8')
  const [, commands = ''] = /A first synthesis[^\n]*\n\n```sh\n([\s\S]+?)```/.exec(page) ?? []
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder }
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', commands], { cwd: folder, env, encoding: 'utf8' })
  expect([status, stdout.trimEnd().split('\n').slice(-2)], stderr).toEqual([
    0,
    ['guide: fresh (revision 3)', '  Written by agent.sh.'],
  ])
  expect(JSON.parse(readFileSync(join(folder, 'notes/guide/.meta/meta.json'), 'utf8'))).toMatchObject({
    _content: 'Written by agent.sh.',
  })
})
