import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CorpusScene, type StoreKind } from './scene.ts'

const millions = (count: number) => Math.round(count * 1_000_000)
const whole = { body: 'b'.repeat(millions(2.4)), out: 'o'.repeat(millions(2.4)), file: 'f'.repeat(millions(2.4)) }

/** The name of an item is the number of letters in its answer. The answers come through each of the three doors. */
async function opened(kind: StoreKind): Promise<CorpusScene> {
  const server = createServer(async (request, response) => {
    const { item } = JSON.parse(await text(request)) as { item: string }
    response.end('b'.repeat(Number(item)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const program = (write: string) => [
    process.execPath,
    '-e',
    `const { readFileSync, writeFileSync } = require('node:fs'); const { item } = JSON.parse(readFileSync(0)); ${write}`,
  ]
  const targets = [
    { phase: 'body', target: { http: { url: `http://127.0.0.1:${port}`, method: 'POST' } } },
    { phase: 'out', target: { command: program("process.stdout.write('o'.repeat(Number(item)))") } },
    {
      phase: 'file',
      target: {
        command: program("writeFileSync(process.env.BELFRY_RESULT_FILE, JSON.stringify('f'.repeat(Number(item))))"),
      },
    },
  ]
  const phases = targets.map(({ phase }) => ({ name: phase, writes: [`_${phase}`], timeout: '2m' }))
  return CorpusScene.open({ root: undefined, phases, targets, attempts: 100 }, { kind })
}

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('an answer of a phase on %s', { timeout: 120_000 }, (kind) => {
  it('of several megabytes is taken whole: the body of an endpoint, stdout, and the result file', async () => {
    const scene = await opened(kind)
    const item = { name: 'notes', path: String(millions(2.4)) }
    await scene.belfry.corpora.putItem(item)
    for (const phase of ['body', 'out', 'file'])
      expect([phase, await scene.play(item.path)]).toEqual([phase, 'completed'])
    const { document, item: standing } = await scene.belfry.corpora.item(item)
    expect(standing.status).toBe('fresh')
    for (const [phase, answer] of Object.entries(whole)) expect(document[`_${phase}`] === answer).toBe(true)
  })

  it('of over 10 MB fails the phase with its reason, and nothing of it is written', async () => {
    const scene = await opened(kind)
    const item = { name: 'notes', path: String(millions(10.6)) }
    await scene.belfry.corpora.putItem(item)
    const reasons: unknown[] = []
    for (const from of ['body', 'out', 'file']) {
      const { run } = await scene.belfry.corpora.trigger({ ...item, from })
      expect((await scene.belfry.runs.wait(run as string)).status).toBe('failed')
      const { document } = await scene.belfry.corpora.item(item)
      expect(Object.keys(document).filter((name) => ['_body', '_out', '_file'].includes(name))).toEqual([])
      reasons.push((document._error as { message: string }).message)
    }
    expect(reasons).toEqual([
      'the answer is not whole: the body is longer than what is kept of it',
      'the answer is not whole: stdout is longer than what is kept of it',
      'the answer is not whole: the result file is over 10 MB and was not read',
    ])
  })

  it('that makes the next phase too large is kept, and the next phase says what is too large', async () => {
    const forms = ['first', 'second'].map((name) => ({ name, writes: [`_${name}`] }))
    const scene = await CorpusScene.open({ root: undefined, phases: forms }, { kind })
    scene.answer = () => 'x'.repeat(millions(8.6))
    await scene.belfry.corpora.putItem({ name: 'notes', path: 'a' })
    expect([await scene.play('a'), await scene.play('a')]).toEqual(['completed', 'failed'])
    expect((await scene.item('a')).reason).toMatch(
      /^what it would be handed has 86\d+ bytes, more than 8388608, most of them in written$/,
    )
    expect(scene.handed).toHaveLength(1)
  })
})
