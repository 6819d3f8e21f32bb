import { expect, it } from 'vitest'
import { Shell } from './belfry-process.ts'

const preload = new URL('without-peers.mjs', import.meta.url).href

it('without the packages for models everything else works, a look waits for a worker that has them, and doctor says what to install', async () => {
  const shell = new Shell('sqlite')
  const env = { NODE_OPTIONS: `--import=${preload}` }
  const typed = async (words: string) => (await shell.start(words, { env }).ended).stdout
  const worker = shell.start('up', { env })
  await worker.told(/Belfry works on/)
  await typed('planner set --provider openai-compatible --url http://127.0.0.1:9/v1 --model m')
  expect(await typed('schedule create tick --every 1h --start-now --autonomy act -- true')).toContain('tick')
  const looks = await typed('planner look tick')
  const run = /r-\w+/.exec(looks)?.[0] ?? ''
  expect(await typed(`explain run ${run} --json`)).toContain('"no-worker"')
  expect(await typed('doctor')).toContain('npm install ai@6 @ai-sdk/openai-compatible@2')
  expect(await typed('run list --schedule tick')).toContain('completed')
  worker.signal('SIGINT')
  await worker.ended
})
