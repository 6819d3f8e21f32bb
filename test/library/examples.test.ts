import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../src/index.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { postgresUrl } from '../postgres.ts'
import { scratchFolder } from '../scratch.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

function folder(): string {
  const path = mkdtempSync(join(scratchFolder(), 'example-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Starts an example; `said` waits for a line of it. */
function start(example: string, args: readonly string[], options: { cwd: string; env?: Record<string, string> }) {
  const env = { ...process.env, ...options.env }
  const child = spawn(process.execPath, [join(examples, example), ...args], { cwd: options.cwd, env })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let output = ''
  const said = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        output += piece
        if (output.includes('\n')) resolve()
      })
    }
  })
  return { child, ended, said, output: () => output }
}

describe('an example that a reader copies runs', () => {
  it.each(['mounting/express.mjs', 'mounting/node.mjs'])(
    '%s answers for Belfry and for the app around it, by the steps of its page in their order where there is no store yet',
    async (example) => {
      const cwd = folder()
      const page = readFileSync(join(examples, 'mounting/README.md'), 'utf8')
      const [, before = '', typed = ''] =
        /```sh\n([\s\S]*?)^npm exec belfry (.*?) +#[\s\S]*?^curl /m.exec(page) ?? expect.unreachable()
      expect(before).toContain('node examples/mounting/express.mjs 3000')
      const running = start(example, ['0'], { cwd })
      await Promise.race([running.said, running.ended])
      const base =
        /(http:\/\/127\.0\.0\.1:\d+)\/belfry\/docs/.exec(running.output())?.[1] ?? expect.unreachable(running.output())
      expect(await (await fetch(base)).text()).toBe('An app of your own.')
      const words = typed.split(' ').filter((word) => word !== '--')
      const made = execFileSync(process.execPath, [join(examples, '../bin/belfry.js'), ...words, '--json'], { cwd })
      const { token } = JSON.parse(String(made)) as { token: string }
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ name: 'hello', every: '1h', target: { handler: 'hello' } })
      const answered = await fetch(`${base}/belfry/api/schedules`, { method: 'POST', headers, body })
      expect([answered.status, await answered.json()]).toMatchObject([201, { answer: 'created' }])
      const listed = await fetch(`${base}/belfry/api/schedules`, { headers })
      expect(await listed.json()).toMatchObject([{ name: 'hello' }])
      expect((await fetch(`${base}/belfry/api/schedules`)).status).toBe(401)
      running.child.kill('SIGTERM')
      expect(await running.ended).toEqual([0, null])
    },
  )

  it('client/main.mjs asks a server as a program asks the library', async () => {
    const cwd = folder()
    const belfry = await Belfry.open({ store: 'memory:', log: false })
    onTestFinished(() => belfry.close())
    const { token } = await belfry.tokens.create('me', { scope: 'admin' })
    await belfry.start()
    const { url } = await belfry.serve({ listen: '127.0.0.1:0' })
    expect(readFileSync(join(examples, 'client/main.mjs'), 'utf8')).toContain('belfry.runs.wait(id)')
    const running = start('client/main.mjs', [url, token as string], { cwd })
    expect([await running.ended, running.output()]).toEqual([
      [0, null],
      expect.stringMatching(/^r-\w+ completed\nnot-found: .*"helo".*"hello"\?\n$/),
    ])
  })

  it('flash-sale/main.mjs sees the surge with rules as soon as with short intervals, and with a third of their starts', async () => {
    const running = start('flash-sale/main.mjs', [], { cwd: folder() })
    expect([await running.ended, running.output()]).toEqual([[0, null], expect.stringContaining('breaches')])
    const page = readFileSync(join(examples, 'flash-sale/README.md'), 'utf8')
    expect(page).toContain(running.output())
  })

  it('corpus/main.mjs runs exactly the phases that a new tree, an edited file, an edited steer and a rebuilt child owe', async () => {
    const running = start('corpus/main.mjs', [], { cwd: folder() })
    expect([await running.ended, running.output()]).toEqual([[0, null], expect.stringContaining('guide is fresh')])
    expect(readFileSync(join(examples, 'corpus/README.md'), 'utf8')).toContain(running.output())
  })

  it('transactions/sqlite.mjs keeps the order and its run, or neither', async () => {
    const cwd = folder()
    const running = start('transactions/sqlite.mjs', [join(cwd, 'orders.db')], { cwd })
    expect([await running.ended, running.output()]).toEqual([[0, null], expect.stringMatching(kept)])
  })

  it('transactions/postgres.mjs keeps the order and its run, or neither', async () => {
    const schema = lendSchema()
    onTestFinished(() => returnSchema(schema))
    const running = start('transactions/postgres.mjs', [postgresUrl(), schema], { cwd: folder() })
    expect([await running.ended, running.output()]).toEqual([[0, null], expect.stringMatching(kept)])
  })
})

const kept = /^r-\w+\nThe card was refused\.\n1 order, 1 run\n$/
