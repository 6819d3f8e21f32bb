import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Shell } from './belfry-process.ts'

/** The endpoint of the page: its queue grows at each look. */
async function growing(): Promise<string> {
  let depth = 150
  const server = createServer((_, answer) => {
    depth += 60
    answer.setHeader('content-type', 'application/json').end(JSON.stringify({ queue_depth: depth }))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/queue`
}

it('the console story of docs/rules.md: the third high answer tightens the schedule, and explain and hints say why', async () => {
  const [, story = ''] = /```sh\n([\s\S]*?)```/.exec(readFileSync('docs/rules.md', 'utf8')) ?? []
  const [, rules = ''] = /--rules '([^']+)'/.exec(story) ?? []
  const [, flags = ''] = /schedule create depth (.+?) --http/.exec(story) ?? []
  expect(story).toContain('--http http://127.0.0.1:3000/queue')
  const url = await growing()
  const shell = new Shell('sqlite')
  const typed = async (...words: string[]) => {
    const { exit, stdout, stderr } = await shell.start(words).ended
    expect(exit, `${words.join(' ')}: ${stdout}${stderr}`).toBe(0)
    return stdout
  }
  const worker = shell.start('up')
  await worker.told(/Belfry works on/)
  await typed('schedule', 'create', 'depth', ...flags.split(' '), '--http', url, '--rules', rules)
  for (let look = 1; look <= 3; look += 1) {
    const run = /r-\w+/.exec(await typed('schedule', 'run', 'depth'))?.[0] ?? ''
    await typed('run', 'wait', run)
  }
  const explained = await typed('explain', 'schedule', 'depth')
  expect(explained).toMatch(/rule surge: queue_depth was 210, 270, 330: every 30s until .+, else /)
  expect(await typed('schedule', 'hints', 'depth')).toMatch(
    /every 30s +until .+rule surge +queue_depth was 210, 270, 330/,
  )
  const played = await typed('planner', 'eval', '--schedule', 'depth', '--last', '7d')
  expect(played).toMatch(/nothing was changed[\s\S]*depth/)
  worker.signal('SIGINT')
  await worker.ended
})
