import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { binary, Shell } from '../../e2e/belfry-process.ts'

const run = promisify(execFile)
const hasTools = ['curl', 'openssl', 'od'].every((tool) => spawnSync('which', [tool]).status === 0)

/** The blocks of the page that are to be typed. */
const page = readFileSync(new URL('../../../docs/routines.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)

// A machine need not have curl and openssl; what the page shows is then told by the tests of its parts.
it.skipIf(!hasTools)('the example of docs/routines.md does what it says when it is typed', async () => {
  const shell = new Shell('sqlite')
  const running = await shell.up('--listen 127.0.0.1:0')
  await running.told(/It listens at (\S+) /)
  const [, url = ''] = /It listens at (\S+) /.exec(running.stdout) ?? []
  const command = join(shell.folder, 'belfry')
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${binary}' "$@"\n`)
  chmodSync(command, 0o755)
  const env = { PATH: `${shell.folder}:${process.env.PATH}`, HOME: shell.folder, BELFRY: url }
  const typed = async (script: string) => (await run('sh', ['-ec', script], { cwd: shell.folder, env })).stdout

  expect(blocks).toHaveLength(3)
  const [make = '', send = '', look = ''] = blocks
  expect(await typed(make)).toContain('created routine paid')
  // The last line again, with the same variables: the same delivery, sent twice.
  const sent = await typed(`${send}\necho\n${send.slice(send.indexOf('curl '))}`)
  const [first, again] = sent.split('\n').map((line) => JSON.parse(line) as { outcome: string; run: string })
  expect(first).toEqual({ outcome: 'fired', run: expect.stringMatching(/^r-/) })
  expect(again).toEqual({ outcome: 'duplicate', run: first?.run })
  expect(await typed(look)).toMatch(/fired .*and once more/)
  await shell.belfry(['run', 'wait', first?.run ?? '', '--timeout', '60s'])
  const { stdout } = await shell.belfry(['run', 'output', first?.run ?? ''])
  expect(JSON.parse(stdout)).toMatchObject({ routine: 'paid', type: 'invoice.paid', event: { data: { amount: 5 } } })
  const forged = await typed(send.replace('"$BODY"', '"$BODY "'))
  expect(JSON.parse(forged)).toMatchObject({ status: 401, code: 'unauthenticated' })
})
