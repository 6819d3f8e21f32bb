import { describe, expect, it } from 'vitest'
import { TranscriptReader } from '../../../src/core/agent/transcript.ts'
import { isMissingSession } from '../../../src/parts/agents/agent-end.ts'
import type { AgentProfile } from '../../../src/parts/agents/profile-form.ts'
import { shippedProfiles } from '../../../src/parts/agents/profiles.ts'
import { TestClock } from '../../../src/testing.ts'
import { until } from '../../targets/command/processes.ts'
import { agents, playAgents, type Scene, type StoreKind } from './scene.ts'

const argAfter = (args: readonly string[] = [], flag: string) =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : null

/** Starts a run, stops its worker in the middle of it, and starts another worker. */
async function interrupted(scene: Scene, target: object, more: object = {}): Promise<string> {
  const { belfry } = scene
  await belfry.start()
  const { id } = await belfry.runs.enqueue({ target, ...more } as never)
  await until(() => scene.starts().length > 0, 'the agent has started')
  await expect.poll(async () => (await belfry.runs.get(id)).attempt?.agent?.sessionId).toBeDefined()
  await belfry.stop({ graceMs: 0 })
  await belfry.start()
  return id
}

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s an interrupted attempt', (kind: StoreKind) => {
  it('is continued in its session, and nothing of the budget is used', async () => {
    const scene = await playAgents({}, kind)
    const id = await interrupted(scene, scene.target('claude', 'slow | fixture:success'))
    expect(await scene.belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' }, attempts: 0 })
    const [first, second] = scene.starts()
    const session = argAfter(first?.args, '--session-id')
    expect(session).toMatch(/^[0-9a-f-]{36}$/)
    expect(argAfter(second?.args, '--resume')).toBe(session)
    expect(second?.args).not.toContain('--session-id')
    expect(second?.input).toMatch(/continue where it stopped\.\]\n\nIs the deploy healthy\?$/)
    expect(await scene.belfry.runs.attempts(id)).toMatchObject([
      { outcome: 'forced-stop', agent: { sessionId: session } },
      { outcome: 'success', agent: { sessionId: session, resumed: true } },
    ])
  })

  it('whose session is gone starts fresh, and says so', async () => {
    const scene = await playAgents({}, kind)
    const id = await interrupted(scene, scene.target('claude', 'slow | missing fixture:success'))
    expect(await scene.belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' } })
    const [first, second, third] = scene.starts()
    expect(argAfter(second?.args, '--resume')).toBe(argAfter(first?.args, '--session-id'))
    expect(argAfter(third?.args, '--resume')).toBeNull()
    expect(argAfter(third?.args, '--session-id')).not.toBe(argAfter(first?.args, '--session-id'))
    const output = await scene.belfry.runs.output(id)
    expect(output?.text).toMatch(/\[belfry: session \S+ is gone; this attempt starts fresh\]/)
    const [, last] = await scene.belfry.runs.attempts(id)
    expect(last).toMatchObject({ agent: { sessionId: argAfter(third?.args, '--session-id') } })
    expect(last?.agent?.resumed).toBeUndefined()
  })
})

describe('a session', () => {
  it('of opencode that is gone, with exit code 0 and nothing printed, is no silent success', async () => {
    const scene = await playAgents()
    const id = await interrupted(scene, scene.target('opencode', 'slow | missing fixture:success'))
    expect(await scene.belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' } })
    expect(scene.starts()).toHaveLength(3)
  })

  it('is not gone because the program was killed, or hung, before it printed a line', async () => {
    const profile = (await shippedProfiles()).get('claude')?.profile as AgentProfile
    const end = { reader: new TranscriptReader(profile), complaints: '', hasSpoken: false, hasLingered: false }
    const ended = (exitCode: number | null, more: object = {}) =>
      isMissingSession({ ...end, exit: { exitCode, signal: null }, ...more }, profile)
    expect(ended(0)).toBe(true)
    expect([ended(null), ended(137), ended(0, { stalled: 'no line within 2m' })]).toEqual([false, false, false])
  })

  it('of codex is continued by its own words', async () => {
    const scene = await playAgents()
    const id = await interrupted(scene, scene.target('codex', 'slow | fixture:success'))
    await scene.belfry.runs.wait(id)
    const [first, second] = scene.starts()
    expect(second?.args).toEqual(['exec', 'resume', `session-${first?.pid}`, '--json', '-'])
  })

  it('is not continued after a failure: what led to it is in the session', async () => {
    const clock = new TestClock()
    const scene = await playAgents({ clock })
    const { belfry } = scene
    const { id } = await belfry.runs.enqueue({ target: scene.target('claude', 'fixture:api-error | fixture:success') })
    await belfry.drain()
    clock.advance(60_000)
    await belfry.drain()
    expect(await belfry.runs.get(id)).toMatchObject({ end: { status: 'completed' }, attempts: 1 })
    const [first, second] = scene.starts()
    expect(second?.args).not.toContain('--resume')
    expect(argAfter(second?.args, '--session-id')).not.toBe(argAfter(first?.args, '--session-id'))
  })

  it('is continued after the provider refused by its limit, which uses no attempt', async () => {
    const clock = new TestClock()
    const scene = await playAgents({ clock })
    const { belfry } = scene
    const { id } = await belfry.runs.enqueue({ target: scene.target('claude', 'fixture:refused | fixture:success') })
    await belfry.drain()
    const waiting = { status: 'ready', attempts: 0, waiting: { for: 'instant', until: clock.now() + 60_000 } }
    expect(await belfry.runs.get(id)).toMatchObject(waiting)
    expect(await belfry.runs.attempts(id)).toMatchObject([
      { outcome: 'deferred', reason: expect.stringContaining('rate-limited') },
    ])
    clock.advance(60_000)
    await belfry.drain()
    expect(await belfry.runs.get(id)).toMatchObject({ end: { status: 'completed' }, attempts: 0 })
    const [first, second] = scene.starts()
    expect(argAfter(second?.args, '--resume')).toBe(argAfter(first?.args, '--session-id'))
  })

  it('is waited for until the instant that the provider named, a day at most', async () => {
    const clock = new TestClock(1_900_000_000_000 - 3_600_000)
    const scene = await playAgents({ clock })
    const { id } = await scene.belfry.runs.enqueue({ target: scene.target('claude', 'fixture:limited') })
    await scene.belfry.drain()
    expect(await scene.belfry.runs.get(id)).toMatchObject({ waiting: { until: 1_900_000_000_000 } })
  })

  it('that cannot log in is noted on its account until a run succeeds, and blocks nothing', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    await belfry.accounts.put('claude-max', {})
    const claude = { ...agents.claude, account: 'claude-max' }
    await belfry.config.apply({ source: 'test', agents: { ...agents, claude } })
    await belfry.start()
    const ended = async (behaviour: string) => {
      const { id } = await belfry.runs.enqueue({ target: scene.target('claude', behaviour) })
      await belfry.runs.wait(id)
      return id
    }
    const checked = async () => (await belfry.store.doctor()).checks.filter(({ check }) => check === 'accounts')
    const id = await ended('fixture:login')
    expect(await belfry.accounts.get('claude-max')).toMatchObject({
      state: 'open',
      setupFailed: { reason: expect.stringMatching(/^agent-setup: .*403/), run: id },
    })
    expect(JSON.stringify(await checked())).toContain('claude-max')
    await ended('')
    expect(await belfry.accounts.get('claude-max')).toMatchObject({ state: 'open', setupFailed: null })
    expect(JSON.stringify(await checked())).not.toContain('claude-max')
  })

  it('of an account whose limit is reached blocks the account, and no other run of it starts', async () => {
    const clock = new TestClock(1_900_000_000_000 - 3_600_000)
    const scene = await playAgents({ clock })
    const { belfry } = scene
    await belfry.accounts.put('claude-max', {})
    await belfry.config.apply({
      source: 'test',
      agents: { ...agents, claude: { ...agents.claude, account: 'claude-max' } },
    })
    const { id } = await belfry.runs.enqueue({ target: scene.target('claude', 'fixture:limited | fixture:success') })
    expect(await belfry.runs.get(id)).toMatchObject({ account: ['claude-max'] })
    await belfry.drain()
    await belfry.runs.enqueue({ target: scene.target('claude') })
    await belfry.drain()
    expect(scene.starts()).toHaveLength(1)
    expect(await belfry.holds.list({})).toMatchObject([{ on: 'account:claude-max', until: expect.any(Number) }])
  })

  it('is not continued where the target forbids it: an interrupted run then waits for a person', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    await belfry.start()
    const { id } = await belfry.runs.enqueue({ target: scene.target('claude', 'slow', { resume: 'never' }) } as never)
    expect(await belfry.runs.get(id)).toMatchObject({ repeatable: false })
    await until(() => scene.starts().length > 0, 'the agent has started')
    await belfry.stop({ graceMs: 0 })
    expect(await belfry.runs.get(id)).toMatchObject({ parked: { reason: 'effect-unknown' } })
  })
})

describe('without a session to continue', () => {
  it('a prompt is not repeated by itself, unless somebody says so', async () => {
    const { belfry, target } = await playAgents()
    const repeatable = async (profile: string, more: object = {}) => {
      const { id } = await belfry.runs.enqueue({ target: target(profile), ...more } as never)
      return (await belfry.runs.get(id)).repeatable
    }
    expect(await repeatable('claude')).toBe(true)
    expect(await repeatable('script')).toBe(false)
    expect(await repeatable('script', { repeatable: true })).toBe(true)
  })

  it('holds for schedules, and an edit of their timing changes nothing of it', async () => {
    const { belfry, target } = await playAgents()
    for (const profile of ['claude', 'aider']) {
      await belfry.schedules.create({ name: profile, every: '1h', target: target(profile) })
      await belfry.schedules.update(profile, { every: '2h' })
    }
    expect((await belfry.schedules.get('claude')).repeatable).toBeUndefined()
    expect((await belfry.schedules.get('aider')).repeatable).toBe(false)
  })
})
