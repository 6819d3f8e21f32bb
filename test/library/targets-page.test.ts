import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry, RunFailure } from '../../src/index.ts'

const page = readFileSync(new URL('../../docs/targets.md', import.meta.url), 'utf8')
const programs = page.split(/^## /m).flatMap((section) => {
  const [about = ''] = section.split('\n', 1)
  return [...section.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => ({ about, code }))
})
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor

const answers: Readonly<Record<string, unknown>> = { '/rows': [1, 2, 3], '/hooks/build': { accepted: true } }

/** What the examples call in place of example.org. */
async function server(seen: IncomingMessage[]): Promise<string> {
  const listening = createServer((request, response) => {
    seen.push(request)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[request.url ?? '']))
  })
  onTestFinished(() => {
    listening.closeAllConnections()
    listening.close()
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

async function working(): Promise<Belfry> {
  const secretsFolder = mkdtempSync(join(tmpdir(), 'belfry-page-'))
  writeFileSync(join(secretsFolder, 'HOOK'), 'Bearer s3cret-of-the-hook', { mode: 0o600 })
  const belfry = await Belfry.open({ store: 'memory:', log: false, secretsFolder })
  onTestFinished(async () => {
    await belfry.close()
    rmSync(secretsFolder, { recursive: true, force: true })
  })
  await belfry.queues.set('default', { maxAttempts: 1 })
  await belfry.start()
  return belfry
}

describe('docs/targets.md', () => {
  it('has an example of each kind', () => {
    expect(programs.map(({ about }) => about)).toEqual(['A handler', 'A command', 'An HTTP call', 'An HTTP call'])
  })

  it.each(programs)('has an example of what it says: $about', async ({ code }) => {
    const seen: IncomingMessage[] = []
    const origin = await server(seen)
    const belfry = await working()
    const run = AsyncFunction('belfry', 'Belfry', 'RunFailure', code.replaceAll('https://example.org', origin))
    await run(belfry, Belfry, RunFailure)
    const { runs } = await belfry.runs.list()
    expect(runs.length > 0 || code.includes('Belfry.open')).toBe(true)
    for (const { id } of runs) expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed' })
    const hooks = seen.filter(({ url }) => url === '/hooks/build').map(({ headers }) => headers.authorization)
    expect(hooks).toEqual(code.includes('/hooks/build') ? ['Bearer s3cret-of-the-hook'] : [])
  })
})
