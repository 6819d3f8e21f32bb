import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Belfry, type RunInput } from '../../../../src/index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-guards-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

async function working(): Promise<Belfry> {
  writeFileSync(join(folder, 'KEY'), 'k3y-of-the-guard', { mode: 0o600 })
  const network = { allowLoopback: true }
  const belfry = await Belfry.open({ store: 'memory:', log: false, secretsFolder: folder, network })
  onTestFinished(() => belfry.close())
  await belfry.start()
  return belfry
}

/** A run with this guard, how it ended, and what it wrote. The target notes that it started. */
async function ended(belfry: Belfry, input: Omit<RunInput, 'target'>) {
  const target = { command: 'echo started >> began; echo worked', cwd: folder }
  const { id } = await belfry.runs.enqueue({ target, attempts: 1, repeatable: false, ...input })
  const run = await belfry.runs.wait(id)
  const { output } = await belfry.runs.get(id, { output: true })
  const starts = () => {
    try {
      return readFileSync(join(folder, 'began'), 'utf8').split('\n').length - 1
    } catch {
      return 0
    }
  }
  return { id, run, output: output?.text ?? '', starts: starts() }
}

async function serving(answer: (path: string) => { status: number; json?: unknown }): Promise<string> {
  const server = createServer((request, response) => {
    const { status, json } = answer(request.url ?? '')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json ?? null))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a command that a run asks before it starts', () => {
  it('says yes: the run starts, and its output begins with what the guard wrote', async () => {
    const { run, output, starts } = await ended(await working(), { when: { command: 'echo open; pwd' } })
    expect(run).toMatchObject({ status: 'completed', when: { command: 'echo open; pwd' } })
    expect(output).toBe(`guard: when said yes: exit code 0\nguard: open\nguard: ${folder}\nworked\n`)
    expect(starts).toBe(1)
  })

  it('says no: the run is skipped, nothing of it starts, and no attempt is used', async () => {
    const belfry = await working()
    const { id, run, output, starts } = await ended(belfry, { when: { command: 'echo closed; exit 1' } })
    expect(run).toMatchObject({ status: 'skipped', attempts: 0, end: { reason: 'when' } })
    expect(output).toBe('guard: when said no: exit code 1\nguard: closed\n')
    expect(starts).toBe(0)
    expect(await belfry.runs.explain(id)).toMatchObject({
      code: 'skipped',
      sentence: 'It ended without being executed: when (its `when` guard said no).',
      unblock: [{ command: `belfry run output ${id}` }, { command: `belfry run retry ${id}` }],
    })
  })

  it.each<[string, RunInput['when'], RegExp]>([
    ['exits with another code', { command: 'echo oh; echo dear >&2; exit 2' }, /^guard: exit code 2: (oh|dear) /],
    ['is killed', { command: 'kill -9 $$' }, /^guard: ended by SIGKILL /],
    ['cannot be started', { command: ['/no/such/program'] }, /^guard: .*\/no\/such\/program/],
    ['needs a secret that is not there', { command: 'true', env: { A: { secret: 'NONE' } } }, /^guard: .*NONE/],
    ['is a handler that this worker does not have', { handler: 'elsewhere' }, /^guard: this worker cannot execute/],
  ])('%s: a failed attempt, and nothing starts', async (_, when, reason) => {
    const { run, output, starts } = await ended(await working(), { when })
    expect(run).toMatchObject({ status: 'parked', attempts: 1, parked: { reason: expect.stringMatching(reason) } })
    expect(output).toMatch(/^guard: when failed: /)
    expect(starts).toBe(0)
  })

  it('fails, and is asked again at the next attempt, also before a run that must not repeat', async () => {
    const belfry = await working()
    const when = { command: 'test -f asked || { touch asked; exit 3; }' }
    const { run, starts } = await ended(belfry, { when, attempts: 2, backoff: { base: '1ms' } })
    expect(run).toMatchObject({ status: 'completed', attempts: 1 })
    expect(starts).toBe(1)
  })

  it('gets no payload, has its secrets redacted, and of its output 1 KB is kept', async () => {
    const env = { KEY: { secret: 'KEY' } }
    const when = { command: 'echo "$KEY is the key"; cat; yes é | head -c 9000; exit 2', env }
    const { run, output } = await ended(await working(), { when, payload: 'of the run' })
    expect(output).not.toContain('k3y-of-the-guard')
    expect(output).toMatch(/^guard: when failed: exit code 2\nguard: \[.*KEY.*\] is the key\nguard: é\n/)
    expect(output).not.toContain('of the run')
    const kept = output
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^guard: /, ''))
    expect(Buffer.byteLength(kept.join('\n'))).toBeLessThanOrEqual(1_025)
    expect(run.parked?.reason).toBe('guard: exit code 2: é (attempt 1/1)')
  })

  it('says yes by an answer of its own', async () => {
    const belfry = await working()
    const when = { command: 'echo "$STATE"', env: { STATE: 'ready' }, expect: { textIncludes: 'ready' } }
    expect(await ended(belfry, { when })).toMatchObject({ run: { status: 'completed' }, starts: 1 })
    const no = { ...when, env: { STATE: 'busy' } }
    expect(await ended(belfry, { when: no })).toMatchObject({ run: { status: 'skipped' }, starts: 1 })
  })
})

describe('a request or a handler that a run asks', () => {
  it('decides by its status and by what it answers', async () => {
    const belfry = await working()
    const origin = await serving((path) => {
      return path === '/open' ? { status: 200, json: { open: true } } : { status: Number(path.slice(1)) }
    })
    const asked = async (path: string, more = {}) => {
      const { run } = await ended(belfry, { when: { http: { url: origin + path }, ...more } })
      return run.status === 'parked' ? run.parked?.reason : run.status
    }
    expect(await asked('/open')).toBe('completed')
    expect(await asked('/open', { expect: { json: { open: true } } })).toBe('completed')
    expect(await asked('/open', { expect: { json: { open: false } } })).toBe('skipped')
    expect(await asked('/404')).toBe('skipped')
    expect(await asked('/503')).toBe('guard: status 503: null (attempt 1/1)')
    expect(await asked('/503', { expect: { statuses: [503] } })).toBe('completed')
  })

  it('does not reach an address that targets may not', async () => {
    const { run } = await ended(await working(), { when: { http: { url: 'http://169.254.169.254/open' } } })
    expect(run).toMatchObject({ status: 'parked', parked: { reason: expect.stringMatching(/^guard: .*169\.254/) } })
  })

  it('answers true or false, and nothing else is taken for either', async () => {
    const belfry = await working()
    const answers: unknown[] = [true, false, 0]
    belfry.handle('open?', () => answers.shift())
    const statuses = []
    for (const _ of [1, 2, 3]) statuses.push((await ended(belfry, { when: { handler: 'open?' } })).run.status)
    expect(statuses).toEqual(['completed', 'skipped', 'parked'])
  })
})

describe('what a schedule asks after its runs', () => {
  const target = { handler: 'work' }

  /** A schedule that asks a handler, and what the handler was asked. */
  async function asking(answers: readonly unknown[], more = {}) {
    const belfry = await working()
    const left = [...answers]
    belfry.handle('work', () => undefined)
    belfry.handle('enough?', () => {
      const answer = left.shift()
      if (answer instanceof Error) throw answer
      return answer
    })
    await belfry.schedules.create('poll', { target, until: { handler: 'enough?' }, ...more })
    const run = async () => belfry.runs.wait((await belfry.schedules.run('poll')).id)
    return { belfry, left, run }
  }

  it('ends it with yes, and not with no, nor when it cannot tell, which is told', async () => {
    const failed: unknown[] = []
    const { belfry, run } = await asking([false, new Error('no answer'), true], { every: '1h' })
    belfry.on('guard.failed', (event) => failed.push(event))
    const finished = async () => (await belfry.schedules.get('poll')).finished
    const first = await run()
    expect([first.status, await finished()]).toEqual(['completed', null])
    const second = await run()
    expect([second.status, await finished()]).toEqual(['completed', null])
    expect(failed).toMatchObject([{ runId: second.id, guard: 'until', reason: 'no answer' }])
    expect([(await run()).status, await finished()]).toEqual(['completed', 'until'])
    expect(await belfry.schedules.explain('poll')).toMatchObject({ code: 'finished', next: null })
    expect(await belfry.schedules.next('poll')).toEqual([])
  })

  it('is not asked after a run that failed or was skipped', async () => {
    const { belfry, left, run } = await asking([true], { attempts: 1, expect: { json: { done: true } } })
    expect((await run()).status).toBe('failed')
    await belfry.schedules.update('poll', { expect: null, when: { command: 'false' } })
    expect((await run()).status).toBe('skipped')
    expect(left).toEqual([true])
    expect((await belfry.schedules.get('poll')).finished).toBeNull()
  })
})

describe('a schedule that finds nothing to do', () => {
  it('is paused after as many in a row, and its runs say that they found nothing', async () => {
    const belfry = await working()
    belfry.handle('work', ({ payload }) => ({ items: payload }))
    const noop = { json: { items: [] } }
    const target = { handler: 'work' }
    await belfry.schedules.create('poll', {
      every: '1s',
      startNow: true,
      target,
      payload: [],
      expect: { noop },
      maxNoop: 2,
    })
    await expect
      .poll(async () => (await belfry.schedules.get('poll')).disabled?.reason, { timeout: 10_000 })
      .toBe('found nothing to do 2 times in a row (maxNoop)')
    const { runs } = await belfry.runs.list({ schedule: 'poll' })
    expect(runs).toHaveLength(2)
    for (const { id, end } of runs) {
      expect(end).toMatchObject({ status: 'completed', reason: 'no-op' })
      expect((await belfry.runs.explain(id)).sentence).toBe('It completed, and found nothing to do.')
    }
    expect((await belfry.schedules.explain('poll')).sentence).toBe(
      'It is paused until it is resumed: found nothing to do 2 times in a row (maxNoop).',
    )
  })
})
