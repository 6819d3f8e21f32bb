import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OpenOptions } from '../../../src/index.ts'
import { kinds } from '../../../src/kinds.ts'
import { programsOf } from '../../../src/parts/config/programs.ts'
import type { Corpus } from '../../../src/parts/corpus/corpus-row.ts'
import { OutsideWatcher } from '../../../src/parts/corpus/watcher/outside-watcher.ts'
import { sections } from '../../../src/table.ts'
import { secretResolver } from '../../../src/targets/secret.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { CorpusScene } from './scene.ts'
import { WatcherService } from './watcher-service.ts'

const timeoutMs = 30_000

/** A clock on which waits end at once and are recorded; only the timeout of an answer waits until the test advances the clock. */
class RestingClock extends TestClock {
  readonly rests: number[] = []

  override after(ms: number, act: () => void): () => void {
    if (ms === timeoutMs) return super.after(ms, act)
    this.rests.push(ms)
    setImmediate(act)
    return () => undefined
  }
}

/** The watcher of one worker, for a service that lists a folder. */
async function sight({ network = {}, token }: { network?: object; token?: { secret: string } } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-outside-'))
  mkdirSync(join(folder, '.meta'))
  writeFileSync(join(folder, '.meta/corpus.json'), '{}')
  writeFileSync(join(folder, 'a.md'), 'a')
  const service = await WatcherService.open(folder)
  const clock = new RestingClock()
  const watcher = { url: service.url, timeoutMs, ...(token !== undefined && { token }) }
  const corpus = { id: 1, name: 'notes', spec: { name: 'notes', root: folder, ignore: ['drafts'], watcher } }
  const secrets = secretResolver({ env: {}, folder: null })
  const one = new OutsideWatcher({ corpus: corpus as unknown as Corpus, outgoing: { network, secrets }, clock })
  return { service, clock, one, folder }
}

async function opened(definition: object = {}, options: OpenOptions = {}) {
  const service = await WatcherService.open()
  const watcher = { url: service.url, ...(definition as { watcher?: object }).watcher }
  const scene = await CorpusScene.open({ cron: '0 0 1 1 *', ...definition, watcher }, options)
  service.folder = scene.root
  return { scene, service, ...scene.belfry }
}

const reasonOf = (call: Promise<unknown>) =>
  call.then(
    () => 'it succeeded',
    (error: Error) => error.message,
  )

/** Runs the tick as the worker does, and returns how the run ended. */
async function tickOf({ belfry }: CorpusScene): Promise<string> {
  const { id } = await belfry.schedules.run('corpus:notes')
  const { status, end } = await belfry.runs.wait(id)
  return status === 'completed' ? status : `${status}: ${String(end?.reason)}`
}

describe('an external watcher', () => {
  it('says which files there are: a change that it alone reports is owed, and what it does not list is no file', async () => {
    const secretsFolder = mkdtempSync(join(tmpdir(), 'belfry-secrets-'))
    writeFileSync(join(secretsFolder, 'WATCHER'), 'sesame\n', { mode: 0o600 })
    const { scene, service, corpora, queues } = await opened(
      { ignore: ['drafts'], watcher: { token: { secret: 'WATCHER' } } },
      { secretsFolder },
    )
    for (const path of ['a/README.md', 'a/inner/x.md', 'drafts/d.md', 'a/drafts.md']) scene.write(path, path)
    await scene.seed('a')
    await scene.settle()
    expect((await corpora.item('notes', 'a')).item.status).toBe('fresh')
    expect(scene.handed[0]?.scope.files).toEqual(['a/README.md', 'a/drafts.md', 'a/inner/x.md'])
    service.hidden.add('a/new.md').add('b/.meta/meta.json')
    scene.write('a/new.md', 'new')
    expect((await corpora.tick('notes')).picked).toBeNull()
    service.hidden.delete('a/new.md')
    // A document on the disk makes an item before the service lists it.
    scene.write('b/.meta/meta.json', '{}')
    scene.write('b/README.md', 'b')
    await queues.pause('corpus:notes', { reason: 'so that nothing moves' })
    const { picked, next } = await corpora.tick('notes')
    expect([picked, ...next]).toMatchObject([
      { path: 'b', phase: 'architect' },
      { path: 'a', phase: 'architect' },
    ])
    expect((await corpora.explain('notes', 'a')).changed.map(({ input }) => input)).toContain('files')
    expect((await corpora.list({ corpus: 'notes' })).items?.map(({ path }) => path)).toEqual(['a', 'b'])
    expect(new Set(service.asked.map(({ token }) => token))).toEqual(new Set(['Bearer sesame']))
    expect((await corpora.get('notes')).watcher).toEqual({
      url: service.url,
      token: { secret: 'WATCHER' },
      timeoutMs: 30_000,
    })
  })

  it('is asked for the files of an item that is newer than the last tick, so that its plan is not made twice', async () => {
    const { scene, service, corpora } = await opened()
    await scene.seed('a')
    scene.write('a/secret.md', 'x')
    service.hidden.add('a/secret.md')
    expect(await scene.play('a')).toBe('completed')
    expect(scene.handed.map(({ phase, scope }) => [phase, scope.files])).toEqual([['architect', ['a/README.md']]])
    expect((await corpora.tick('notes')).picked).toMatchObject({ path: 'a', phase: 'builder' })
    service.replies.set('/walk', (response) => response.writeHead(404).end())
    await scene.seed('b')
    expect(await scene.play('b')).toBe('failed')
    expect((await corpora.item('notes', 'b')).item).toMatchObject({ status: 'failed', attempts: 1 })
    expect(scene.handed.filter(({ item }) => item === 'b')).toEqual([])
  })

  it('seeds by its list, and neither a folder behind a link nor one that is gone is entered', async () => {
    const { scene, service, corpora, queues } = await opened({ autoSeed: [{ match: '**/*.md' }] })
    await queues.pause('corpus:notes', { reason: 'so that nothing moves' })
    for (const path of ['a/README.md', 'unlisted/README.md']) scene.write(path, 'a')
    const outside = mkdtempSync(join(tmpdir(), 'belfry-outside-'))
    writeFileSync(join(outside, 'far.md'), 'far')
    symlinkSync(outside, join(scene.root, 'link'))
    const listed = ['a/README.md', 'a/README.md', 'link/far.md', 'gone/x.md', 'a/.git/y.md'].map((path) =>
      join(scene.root, path),
    )
    service.replies.set('/walk', (response) => response.end(JSON.stringify({ paths: listed })))
    await corpora.tick('notes')
    expect((await corpora.list({ corpus: 'notes' })).items?.map(({ path }) => path)).toEqual(['a'])
    expect(await corpora.scan('notes')).toMatchObject({ items: 1, looked: 0 })
    expect((await corpora.seed({ name: 'notes', match: '**/*.md', dryRun: true })).seeded).toEqual([])
    expect((await corpora.deleteItem({ name: 'notes', path: 'a' })).deleted).toBe(true)
    expect([scene.has('link/.meta'), scene.has('unlisted/.meta')]).toEqual([false, false])
  })
})

describe('a wrong answer of an external watcher', () => {
  const big = JSON.stringify({ paths: ['x'.repeat(17 * 1024 * 1024)] })
  const body = (text: string) => (response: ServerResponse, root: string) =>
    void response.end(text.replaceAll('ROOT', root))
  const status = (code: number, headers: Record<string, string> = {}) => {
    return (response: ServerResponse) => void response.writeHead(code, headers).end()
  }
  it.each([
    ['what is no JSON', body('<html>'), /answered \/walk with what is no JSON/],
    ['an object without paths', body('{"files":[]}'), /without a list of paths/],
    ['paths that are no texts', body('{"paths":[1]}'), /without a list of paths/],
    ['nothing', body(''), /without a list of paths/],
    ['an empty list', body('{"paths":[]}'), /lists no file at all/],
    ['a path outside of the root', body('{"paths":["/etc/passwd"]}'), /lists "\/etc\/passwd", which is no file below/],
    ['a path that leads out of it', body('{"paths":["ROOT/a/../../x"]}'), /which is no file below/],
    ['a path with NUL', body('{"paths":["ROOT/a\\u0000b"]}'), /which is no file below/],
    ['a path below a folder whose name only begins so', body('{"paths":["ROOTs/a"]}'), /which is no file below/],
    ['more than it may', body(big), /more than 16777216 bytes/],
    ['a redirect', status(302, { location: 'http://127.0.0.1:1/' }), /answered \/walk with 302/],
    ['a refusal', status(403), /answered \/walk with 403/],
  ])('%s fails the look and is not asked for again', async (_, reply, why) => {
    const { service, clock, one, folder } = await sight()
    service.replies.set('/walk', (response) => reply(response, folder))
    const reason = await reasonOf(one.walk())
    expect(reason).toMatch(why)
    expect(reason).toMatch(/^The watcher http:\/\/127\.0\.0\.1:\d+ of corpus notes /)
    expect([service.count('/walk'), clock.rests]).toEqual([1, []])
  })

  it('that does not come is given up after the timeout, and its connection ends', async () => {
    const { service, clock, one } = await sight()
    let ended: () => void = () => undefined
    const closed = new Promise<void>((resolve) => {
      ended = resolve
    })
    service.replies.set('/walk', (response) => response.once('close', ended))
    const asked = service.next()
    const reason = reasonOf(one.walk())
    await asked
    clock.advance(timeoutMs)
    expect(await reason).toMatch(/has not answered \/walk within 30s/)
    await closed
    expect(clock.rests).toEqual([])
  })

  it('that may pass is asked for again, as late as the service says', async () => {
    const { service, clock, one } = await sight()
    service.replies.set('/walk', status(500))
    expect(await reasonOf(one.walk())).toMatch(/answered \/walk with 500/)
    expect([service.count('/walk'), clock.rests]).toEqual([3, [1_000, 4_000]])
    const again = (response: ServerResponse) => {
      service.replies.delete('/walk')
      response.writeHead(429, { 'retry-after': '7' }).end()
    }
    service.replies.set('/walk', again)
    expect((await one.walk()).toSorted()).toEqual(['.meta/corpus.json', 'a.md'])
    expect(clock.rests).toEqual([1_000, 4_000, 7_000])
  })

  it('with a later instant than a look can wait for keeps it from being asked before that', async () => {
    const { service, clock, one } = await sight()
    service.replies.set('/walk', status(503, { 'retry-after': '600' }))
    expect(await reasonOf(one.walk())).toMatch(/answered \/walk with 503/)
    service.replies.clear()
    clock.advance(599_000)
    expect(await reasonOf(one.walk())).toMatch(/is not asked before 2026-01-05T09:10:00.000Z/)
    expect([service.count('/walk'), clock.rests]).toEqual([1, []])
    clock.advance(1_000)
    expect(await one.walk()).toHaveLength(2)
  })

  it('is none at all where the network policy or a missing secret forbids to ask', async () => {
    const closed = await sight({ network: { allowLoopback: false } })
    expect(await reasonOf(closed.one.walk())).toMatch(/127\.0\.0\.1 is not allowed/)
    const poor = await sight({ token: { secret: 'NONE' } })
    expect(await reasonOf(poor.one.walk())).toMatch(/cannot be asked: The secret NONE is missing/)
    expect([closed.service.asked, poor.service.asked]).toEqual([[], []])
  })
})

it('a watcher that fails again and again is asked ever more seldom, once each time, and as before when it is well', async () => {
  const { service, clock, one } = await sight()
  service.replies.set('/walk', (response) => response.writeHead(500).end())
  for (let failures = 0; failures < 3; failures += 1) await reasonOf(one.walk())
  const asked = service.count('/walk')
  for (const openMs of [60_000, 120_000, 240_000]) {
    clock.advance(openMs - 1)
    // The success of another route does not clear this failure, and no route is asked before the wait is over.
    expect(await reasonOf(one.attend())).toMatch(/is not asked before .+: it answered \/walk with 500/)
    clock.advance(1)
    expect(await reasonOf(one.attend())).toBe('it succeeded')
    expect(await reasonOf(one.walk())).toMatch(/answered \/walk with 500/)
  }
  expect(service.count('/walk')).toBe(asked + 3)
  clock.advance(480_000)
  service.replies.clear()
  await one.walk()
  service.replies.set('/walk', (response) => response.writeHead(500).end())
  await reasonOf(one.walk())
  service.replies.clear()
  expect(await one.walk()).toHaveLength(2)
})

it('two looks at once ask a watcher once, and give it its rules once; they have the name of the corpus', async () => {
  const { service, one, folder } = await sight()
  expect(await Promise.all([one.attend(), one.attend()])).toEqual([{ registered: true }, { registered: true }])
  expect([service.count('/status'), service.count('/rules/register')]).toEqual([1, 1])
  expect(service.rules.map(({ name }) => name)).toEqual([
    'belfry:notes:documents',
    'belfry:notes:archive',
    'belfry:notes:files',
  ])
  const globs = JSON.stringify(service.asked.at(-1)?.body)
  for (const glob of [`${folder}/**/.meta/meta.json`, `${folder}/**`, `${folder}/drafts`])
    expect(globs).toContain(`"${glob}"`)
  expect(await one.attend()).toEqual({ registered: false })
})

it('a watcher gets its rules again after a new start, a smaller uptime, and one that has passed the last one meanwhile', async () => {
  const { service, clock, one } = await sight()
  let uptimeS = 500
  service.uptimeS = () => uptimeS
  service.startedAt = 'Monday'
  const registered = async () => (await one.attend()).registered
  expect([await registered(), await registered()]).toEqual([true, false])
  service.startedAt = 'Tuesday'
  expect([await registered(), await registered()]).toEqual([true, false])
  uptimeS = 499
  expect([await registered(), await registered()]).toEqual([true, false])
  clock.advance(3_600_000)
  uptimeS += 3_600
  expect(await registered()).toBe(false)
  clock.advance(3_600_000)
  uptimeS += 1_000
  expect([await registered(), await registered()]).toEqual([true, false])
  // The next look registers the rules again that the service did not accept.
  service.startedAt = 'Wednesday'
  service.replies.set('/rules/register', (response) => response.writeHead(400).end())
  expect(await reasonOf(one.attend())).toMatch(/answered \/rules\/register with 400/)
  service.replies.clear()
  expect([await registered(), await registered()]).toEqual([true, false])
})

it('a watcher that restarts gets its rules again also by a tick that is left out because nothing is owed', async () => {
  const { scene, service, corpora } = await opened()
  await scene.seed('a')
  await scene.settle()
  await corpora.tick('notes')
  const outcomes: unknown[] = []
  for (let tick = 0; tick < 4; tick += 1) {
    service.restart()
    const before = service.count('/rules/register')
    const outcome = await tickOf(scene)
    outcomes.push([outcome, service.count('/rules/register') - before, service.rules.length])
  }
  expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(
    new Set([JSON.stringify(['completed', 1, 3]), JSON.stringify(['skipped: idle-backoff', 1, 3])]),
  )
  const before = service.count('/rules/register')
  await tickOf(scene)
  expect(service.count('/rules/register')).toBe(before)
})

it('a tick whose watcher fails has failed, also one that would be left out: it never says that nothing is owed', async () => {
  const { scene, service, corpora, store } = await opened()
  await scene.seed('a')
  await scene.settle()
  await corpora.tick('notes')
  expect(await tickOf(scene)).toMatch(/completed|idle-backoff/)
  const { idle } = await corpora.status('notes')
  service.replies.set('/status', (response) => response.writeHead(404).end())
  for (let tick = 0; tick < 3; tick += 1) expect(await tickOf(scene)).toMatch(/^failed: .+ answered \/status with 404/)
  expect(await tickOf(scene)).toMatch(/^failed: .+ is not asked before .+ failed 3 times in a row/)
  const status = await corpora.status('notes')
  expect(status.idle).toBe(idle)
  expect(status.watchers).toMatchObject([{ url: service.url, failures: 3, error: 'answered /status with 404' }])
  expect([typeof status.watchers[0]?.openUntil, typeof status.watchers[0]?.registeredAt]).toEqual(['number', 'number'])
  const { checks } = await store.doctor()
  const found = checks.find(({ check }) => check === 'corpora')
  expect(found?.findings.map(({ says }) => says)).toEqual([
    expect.stringMatching(/^The watcher http.+ fails for machine/),
  ])
  // Phases of items whose files are known do not ask the service.
  await corpora.update('notes', 'a', { steer: 'Shorter.' })
  expect(await scene.play('a')).toBe('completed')
})

it('a worker that stops while its watcher does not answer gives the tick back', async () => {
  const { scene, service, runs, schedules } = await opened({ watcher: { timeout: '5m' } })
  service.replies.set('/status', () => undefined)
  const asked = service.next()
  const { id } = await schedules.run('corpus:notes')
  await asked
  await scene.belfry.stop({ graceMs: 0 })
  expect((await runs.get(id)).status).toBe('ready')
})

it('a definition with a wrong watcher is refused whole, and one without a watcher looks for itself again', async () => {
  const { scene, service, corpora } = await opened()
  const { root } = scene
  const target = { handler: 'write' }
  const wrong: [object, RegExp][] = [
    [{ root: undefined, name: 'faq', watcher: { url: service.url } }, /watcher is given without a root/],
    [{ watcher: { timeout: '5s' } }, /watcher\.url/],
    [{ watcher: {} }, /watcher\.url/],
    [{ watcher: { url: 'ftp://x' } }, /watcher\.url/],
    [{ watcher: { url: 'http://me:word@x' } }, /watcher\.url.+credentials/],
    [{ watcher: { url: 'http://x/?a=1' } }, /watcher\.url has a query/],
    [{ watcher: { url: 'http://x', token: 'sesame' } }, /watcher\.token/],
    [{ watcher: { url: 'http://x', token: { secret: 'not a name' } } }, /watcher\.token/],
    [{ watcher: { url: 'http://x', timeout: '1ms' } }, /watcher\.timeout.+from 100ms to 5m/],
    [{ watcher: { url: 'http://x', timeoutMs: 400_000 } }, /watcher\.timeout/],
    [{ watcher: { url: 'http://x', mood: 1 } }, /mood/],
  ]
  for (const [given, why] of wrong)
    expect(await reasonOf(corpora.put({ name: 'notes', root, target, ...given } as never))).toMatch(why)
  expect((await corpora.get('notes')).watcher?.url).toBe(service.url)
  const section = { notes: { root, target, watcher: { url: service.url, token: { secret: 'WATCHER' } } } }
  expect(programsOf({ corpora: section } as never, { kinds, sections }).programs).toMatchObject([
    { where: 'corpora.notes.watcher', what: `sends the secret WATCHER to ${service.url}` },
  ])
  const asked = service.asked.length
  await corpora.put({ name: 'notes', root, target })
  scene.write('a/README.md', 'a')
  await scene.seed('a')
  expect((await corpora.tick('notes')).picked).toMatchObject({ path: 'a' })
  expect([service.asked.length, (await corpora.status('notes')).watchers]).toEqual([asked, []])
})
