import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../operations/desk.ts'
import { agents, playAgents, standIn } from './scene.ts'

describe('a target that is refused', () => {
  const wrong: [string, object, string, RegExp, RegExp][] = [
    [
      'an unknown profile',
      { profile: 'clade' },
      'target.agent.profile',
      /no such profile/,
      /claude, if that was meant/,
    ],
    ['an empty prompt', { prompt: ' \n' }, 'target.agent.prompt', /is empty/, /at most 64 KB/],
    ['no prompt', { prompt: undefined }, 'target.agent.prompt', /is missing/, /at most 64 KB/],
    ['a prompt over 64 KB', { prompt: 'é'.repeat(32_769) }, 'target.agent.prompt', /65538 bytes/, /into a file/],
    ['a prompt that is a secret', { prompt: { secret: 'KEY' } }, 'target.agent.prompt', /holds a secret/, /in env/],
    [
      'a prompt that holds one',
      { prompt: 'Use { secret: "KEY" }.' },
      'target.agent.prompt',
      /holds a secret/,
      /in env/,
    ],
    ['two prompts', { promptFile: '/p' }, 'target.agent.promptFile', /beside prompt/, /one of the two/],
    ['a field that is none', { argv: ['rm'] }, 'target.agent.argv', /is not known/, /only profile, prompt/],
    [
      'a model that the profile cannot choose',
      { profile: 'script', model: 'x' },
      'target.agent.model',
      /takes none/,
      /no model/,
    ],
    ['a model that is an option', { model: '--dangerously' }, 'target.agent.model', /misread/, /name of a model/],
    ['a word of its own for resume', { resume: 'always' }, 'target.agent.resume', /always/, /interrupted or never/],
  ]

  it.each(wrong)('has %s', async (_, agent, field, problem, expected) => {
    const { belfry, target } = await playAgents()
    const given = target('claude', '', agent)
    const problems = await problemsIn(belfry.runs.enqueue({ target: given } as never))
    expect(problems).toEqual([
      { field, problem: expect.stringMatching(problem), expected: expect.stringMatching(expected) },
    ])
    expect(await problemsIn(belfry.schedules.create({ name: 's', every: '1h', target: given } as never))).toEqual(
      problems,
    )
  })

  it('has several problems, which are said at once', async () => {
    const { belfry } = await playAgents()
    const target = { agent: { profile: 'nobody', prompt: '' }, cwd: 'x\0', env: { BELFRY_RUN: '1' }, more: 1 }
    const fields = (await problemsIn(belfry.runs.enqueue({ target } as never))).map(({ field }) => field)
    expect(fields.sort()).toEqual([
      'target.agent.profile',
      'target.agent.prompt',
      'target.cwd',
      'target.env.BELFRY_RUN',
      'target.more',
    ])
  })
})

describe('profiles in a config file', () => {
  const schedule = (profile: string) => ({
    nightly: { cron: '0 3 * * *', target: { agent: { profile, prompt: 'Hello' } } },
  })

  it('are refused whole, each problem at its place', async () => {
    const { belfry } = await playAgents()
    const bad = {
      extends: 'claude',
      linger: 'soon',
      killAfter: '1h',
      program: '-x',
      read: { session: { at: 'a..b' }, final: [{ when: { 'x[': 1 } }], cost: { starts: 'Cost' } },
      limits: [{ at: 'ok' }, { at: '$.x' }],
      missing: ['(?=a)'],
      stall: { asks: ['ok', '['] },
      env: { BELFRY_X: '1' },
    }
    const problems = await problemsIn(
      belfry.config.apply({ source: 'file', agents: { bad, none: {}, odd: { extends: 'nobody', nonsense: 1 } } }),
    )
    expect(problems.map(({ field }) => field).sort()).toEqual([
      'agents.bad.env.BELFRY_X',
      'agents.bad.killAfter',
      'agents.bad.limits[1].at',
      'agents.bad.linger',
      'agents.bad.missing[0]',
      'agents.bad.program',
      'agents.bad.read.cost.starts',
      'agents.bad.read.final[0].when',
      'agents.bad.read.session.at',
      'agents.bad.stall.asks[1]',
      'agents.none.argv',
      'agents.none.stream',
      'agents.odd.argv',
      'agents.odd.extends',
      'agents.odd.nonsense',
      'agents.odd.stream',
    ])
    expect((await belfry.agents.list({})).map(({ name }) => name)).not.toContain('bad')
  })

  it('can be named by schedules of the same file, and by no others before', async () => {
    const { belfry } = await playAgents()
    const mine = { extends: 'codex', program: standIn('codex') }
    expect(await problemsIn(belfry.config.apply({ source: 'file', schedules: schedule('mine') }))).toMatchObject([
      { field: 'schedules.nightly.target.agent.profile' },
    ])
    const applied = await belfry.config.apply({ source: 'file', agents: { mine }, schedules: schedule('mine') })
    expect(applied.agents).toMatchObject([{ name: 'mine', answer: 'created' }])
    expect((await belfry.schedules.get('nightly')).repeatable).toBeUndefined()
  })

  it('change what they give and nothing else, belong to one file, and go with it', async () => {
    const { belfry } = await playAgents()
    const { profile } = await belfry.agents.get('claude')
    expect(profile).toMatchObject({ argv: [standIn('claude'), '-p', '--output-format', 'stream-json', '--verbose'] })
    expect(profile).toMatchObject({
      env: { CLAUDE_CODE_DISABLE_CRON: '1' },
      stall: { startMs: 60_000, asks: expect.arrayContaining([expect.any(String)]) },
    })
    await expect(belfry.config.apply({ source: 'other', agents: { claude: {} } })).rejects.toThrow(
      /source test manages agent profile claude/,
    )
    const { claude: _, ...rest } = agents
    await belfry.config.apply({ source: 'test', agents: { ...rest, codex: { ...rest.codex, linger: '2s' } } })
    expect((await belfry.agents.list({})).find(({ name }) => name === 'claude')).toMatchObject({
      program: 'claude',
      managedBy: null,
    })
  })
})
