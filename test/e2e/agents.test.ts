import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { standIn } from '../parts/agents/scene.ts'
import { isRunning, until, vanished } from '../targets/command/processes.ts'
import { Shell } from './belfry-process.ts'

interface Attempt {
  readonly outcome: string
  readonly agent?: { readonly sessionId: string; readonly resumed?: true }
}

interface Noted {
  readonly args?: readonly string[]
  readonly pid?: number
  readonly child?: number
  readonly deafTo?: string
}

// Without tmux the second agent runs without a terminal.
const isTmuxHere = spawnSync('tmux', ['-V']).status === 0

/** A shell with stand-ins on its PATH. */
function shellWith(database: 'sqlite' | 'postgres', ...agents: readonly string[]) {
  const shell = new Shell(database)
  const bin = join(shell.folder, 'bin')
  mkdirSync(bin)
  for (const agent of agents) symlinkSync(standIn(agent), join(bin, agent === 'script' ? 'agent-script' : agent))
  const env = { PATH: `${bin}:${process.env.PATH}` }
  const up = async (flags = '') => {
    const worker = shell.start(`up ${flags}`.trim(), { env })
    await worker.told(/works on/)
    return worker
  }
  const log = join(shell.folder, 'starts')
  const noted = (file = log): Noted[] => {
    try {
      return readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    } catch {
      return []
    }
  }
  return { shell, env, up, log, noted }
}

describe('at a terminal', () => {
  it('a prompt is scheduled and enqueued in one line, executed, and read with what it cost', async () => {
    const { shell, env, up } = shellWith('sqlite', 'claude', 'script')
    const check = await shell.start('agent check claude', { env }).ended
    expect(check.stdout).toBe(
      'claude: found 2.1.7 (stand-in for claude); profile says stream-json, resume, usage, cost: yes\n',
    )
    const made = await shell.belfry([
      'schedule',
      'create',
      'triage',
      '--cron',
      '0 9 * * 1-5',
      '--agent',
      'script',
      '--prompt',
      'Triage the inbox',
    ])
    expect(made.stdout).toContain('Asks script "Triage the inbox".')
    const { id } = await shell.json<{ id: string }>('schedule run triage')
    const asked = await shell.json<{ id: string }>([
      'run',
      'enqueue',
      '--agent',
      'claude',
      '--prompt',
      'Is the deploy healthy?',
      '--cwd',
      shell.folder,
    ])
    const worker = await up('--once')
    expect((await worker.ended).exit).toBe(0)
    expect((await shell.belfry(`run output ${id}`)).stdout).toBe('You asked: Triage the inbox\n')
    expect((await shell.belfry(`run output ${asked.id}`)).stdout).toBe(
      'I look at the deploy.\n→ Bash\nThe deploy is healthy.\n',
    )
    const shown = (await shell.belfry(`run show ${asked.id}`)).stdout
    expect(shown).toMatch(
      /agent {2}claude \(claude-opus-4-5\), session \S+, 3 turns, 1,500 tokens in, 380 out, 9,000 cached, 0\.0312 USD/,
    )
    expect((await shell.belfry(`run attempts ${asked.id}`)).stdout).toContain('0.0312 USD')
  })

  it('a program that is not there is named: by the check, by explain, by doctor; and no worker takes its runs', async () => {
    const { shell, env, up } = shellWith('sqlite', 'claude')
    const check = await shell.start('agent check codex', { env }).ended
    expect([check.exit, check.stdout]).toEqual([
      1,
      expect.stringMatching(/codex: not found\n.*npm install -g @openai\/codex.*agents: \{ codex: \{ program:/s),
    ])
    const { id } = await shell.json<{ id: string }>(['run', 'enqueue', '--agent', 'codex', '--prompt', 'Hello'])
    const why = async () => (await shell.belfry(`explain run ${id}`)).stdout
    // While no worker is alive nothing is known of programs.
    expect(await why()).toMatch(/Start a worker/)
    expect(await why()).not.toMatch(/Install the program/)
    const worker = await up()
    await expect.poll(why).toMatch(/none has the agent "codex": they have .*the agent "claude"/)
    expect((await shell.belfry('doctor')).stdout).toMatch(
      /needs the agent "codex".*\n.*Install the program of profile codex/,
    )
    worker.ctrlC()
    await worker.ended
  })

  it('a live check compares what the program prints with the profile', async () => {
    const { shell, env } = shellWith('sqlite', 'claude')
    const live = await shell.start('agent check claude --live', { env }).ended
    expect(live.stdout).toContain('live: it answered; read: session, model, tokensIn, tokensOut, cost, turns, final')
    expect(live.exit).toBe(0)
  })
})

/** A shell in which a task waits for its worker. It has an account and a budget, and a command hears what comes of it. */
const page = readFileSync(new URL('../../docs/tasks.md', import.meta.url), 'utf8')
const [, story = ''] = page.split('## Your first agent\n')

/** The words of a command as the page tells a newcomer to type it, of a run that has another id here. */
function told(command: string, run = ''): string[] {
  const line = story.split('\n').find((each) => each.startsWith(`belfry ${command}`))
  if (line === undefined) throw new Error(`The page does not tell to type belfry ${command}.`)
  const [, ...words] = line.replace(/ +#.*$/, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? []
  return words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2').replace('r-15', run))
}

async function newcomer() {
  const { shell, up, log, noted } = shellWith('sqlite', 'claude')
  const answer = join(shell.folder, 'answer.json')
  writeFileSync(
    join(shell.folder, 'belfry.yaml'),
    'source: app\nagents: { claude: { account: claude-max, killAfter: 1s } }\naccounts: { claude-max: { maxConcurrent: 3 } }\n',
  )
  const typed = async (words: readonly string[]) => {
    const { exit, stdout, stderr } = await shell.belfry(words)
    expect(exit, stderr).toBe(0)
    return stdout
  }
  await typed(['apply'])
  const budget = 'budget put claude-day --per day --zone Europe/Paris --money 40USD --runs 200 --for profile=claude'
  await typed(budget.split(' '))

  // Each attempt but the last waits after its first line, with a child.
  const env = { STAND_IN: 'slow child:calm | slow child:calm | fixture:success', STAND_IN_LOG: log }
  const made = await typed([...told('task create'), '--env', JSON.stringify(env)])
  expect(made).toMatch(/^task \w{8} deploy {2}.*next .*; budget claude-day; expires never/)
  return { shell, up, noted, typed, answer }
}

describe('a newcomer with a stand-in', () => {
  it('creates a task, watches it, attaches, kills the worker, sees it resumed, stops all agents with one command, and gets the notice', async ({
    skip,
  }) => {
    skip(!isTmuxHere, 'tmux is not installed')
    const { shell, up, noted, typed, answer } = await newcomer()
    const worker = await up()
    const created = await typed(told('task run'))
    const [id = ''] = /r-\w+/.exec(created) ?? []
    const agents = () => noted().filter(({ child }) => child !== undefined).length
    const isGone = () => vanished(...noted().flatMap(({ pid, child }) => pid ?? child ?? []))

    // Watch, and attach.
    await until(() => agents() === 1, 'the agent has started')
    await expect.poll(() => typed(told('run list'))).toMatch(new RegExp(`${id} +leased .*working`))
    expect(await typed(['run', 'screen', id])).toContain('claude-opus-4-5')
    expect((await shell.belfry(told('run attach', id))).stdout).toMatch(/tmux -S \S+ attach-session -r -t/)

    // Kill the worker, and see it resumed by the next.
    worker.signal('SIGKILL')
    await worker.ended
    await isGone()
    const next = await up()
    await until(() => agents() === 2, 'the agent has started again')

    // Stop all agents with one command: the run is given back uncounted, and says why it does not start.
    await typed(told('stop', id))
    await isGone()
    await expect.poll(() => typed(told('explain run', id))).toMatch(/agent.*stopped by .*Incident/)
    expect(await typed(['admission'])).toContain('Incident')
    await typed(told('go'))
    await expect.poll(async () => (await shell.json<{ status: string }>(`run show ${id}`)).status).toBe('completed')

    // One session all the way, and the notice with the answer and its cost.
    expect(await typed(told('run attempts', id))).toMatch(/lost[\s\S]*forced-stop[\s\S]*success/)
    const attempts = await shell.json<Attempt[]>(`run attempts ${id}`)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'forced-stop', 'success'])
    expect(await shell.json(`run show ${id}`)).toMatchObject({ attempts: 1 })
    expect(new Set(attempts.map(({ agent }) => agent?.sessionId)).size).toBe(1)
    await expect
      .poll(() => existsSync(answer) && readFileSync(answer, 'utf8'))
      .toContain('"answer":"The deploy is healthy."')
    expect(JSON.parse(readFileSync(answer, 'utf8'))).toMatchObject({ run: id, cost: '0.031207 USD' })
    expect(await typed(told('cost'))).toMatch(/deploy .*0\.031207 USD/)
    expect(await typed(['budget', 'show', 'claude-day'])).toMatch(/0\.0312/)
    next.ctrlC()
    await next.ended
  })
})

describe.each(['sqlite', 'postgres'] as const)('on %s a worker that is killed', (database) => {
  it('takes its agents along with all their children, also in a terminal; the next attempt continues the session, or the run waits for a person', async ({
    annotate,
  }) => {
    const { shell, up, log, noted } = shellWith(database, 'claude', 'aider')
    await shell.belfry('queue set default --max-concurrent 3')
    const enqueued = async (agent: object) => {
      const env = { STAND_IN: 'slow child:calm | fixture:success', STAND_IN_LOG: log }
      const target = { agent: { profile: 'claude', prompt: 'Is the deploy healthy?', ...agent }, env }
      return (await shell.json<{ id: string }>(['run', 'enqueue', '--target', JSON.stringify(target)])).id
    }
    const ids = [await enqueued({}), await enqueued(isTmuxHere ? { terminal: 'tmux' } : {})]
    const once = await enqueued({ profile: 'aider' })
    const worker = await up()
    const attempt = async (id: string) => (await shell.json<{ attempt?: Attempt }>(`run show ${id}`)).attempt
    await until(() => noted().filter(({ child }) => child !== undefined).length === 3, 'all agents have started')
    for (const id of ids) await expect.poll(async () => (await attempt(id))?.agent?.sessionId).toBeDefined()
    const killedMs = performance.now()
    worker.signal('SIGKILL')
    await worker.ended
    await vanished(...noted().flatMap(({ pid, child }) => pid ?? child ?? []))
    // Reported, not asserted: how long it takes depends on the machine. docs/faults.md states a measured figure.
    await annotate(`all gone ${Math.round(performance.now() - killedMs)} ms after kill -9`)
    const next = await up()
    for (const id of ids)
      await expect.poll(async () => (await shell.json<{ status: string }>(`run show ${id}`)).status).toBe('completed')
    for (const id of ids) {
      const [first, second] = await shell.json<Attempt[]>(`run attempts ${id}`)
      expect(first?.outcome).toBe('lost')
      expect(second).toMatchObject({ outcome: 'success', agent: { sessionId: first?.agent?.sessionId, resumed: true } })
      expect(noted().some(({ args = [] }) => args.join(' ').endsWith(`--resume ${first?.agent?.sessionId}`))).toBe(true)
    }
    await expect
      .poll(async () => (await shell.json<{ parked?: { reason: string } }>(`run show ${once}`)).parked?.reason)
      .toBe('effect-unknown')
    next.ctrlC()
    await next.ended
  })
})

describe('agents that ignore TERM', () => {
  it('have the time of their own profile when their worker is killed, and the next worker waits for them', async () => {
    const { shell, up, log, noted } = shellWith('sqlite', 'claude')
    const patient = { extends: 'claude', killAfter: '15s' }
    const agents = { claude: { killAfter: '1s' }, patient }
    writeFileSync(join(shell.folder, 'belfry.yaml'), JSON.stringify({ source: 'app', agents }))
    await shell.belfry('apply')
    await shell.belfry('queue set default --max-concurrent 3')
    const enqueued = async (profile: string, more: object = {}) => {
      const env = { STAND_IN: 'slow deaf child | fixture:success', STAND_IN_LOG: `${log}-${profile}` }
      const target = { agent: { profile, prompt: 'Is the deploy healthy?', ...more }, env }
      return (await shell.json<{ id: string }>(['run', 'enqueue', '--target', JSON.stringify(target)])).id
    }
    const [hasty, calm] = [await enqueued('claude', isTmuxHere ? { terminal: 'tmux' } : {}), await enqueued('patient')]
    const pids = (profile: string) => noted(`${log}-${profile}`).flatMap(({ pid, child }) => pid ?? child ?? [])
    const worker = await up()
    await until(() => pids('claude').length + pids('patient').length === 4, 'both agents have started')
    const stubborn = pids('patient')
    onTestFinished(() => {
      for (const pid of stubborn) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    })
    worker.signal('SIGKILL')
    await worker.ended
    await vanished(...pids('claude'))
    expect(stubborn.map(isRunning)).toEqual([true, true])

    // The next worker asks as well, and gives neither run out while something of the dead one may still act.
    const next = await up()
    await until(
      () => noted(`${log}-patient`).filter(({ deafTo }) => deafTo !== undefined).length === 2,
      'both TERM came',
    )
    expect(stubborn.map(isRunning)).toEqual([true, true])
    for (const id of [hasty, calm])
      expect((await shell.json<{ status: string }>(`run show ${id}`)).status).toBe('leased')
    for (const pid of stubborn) process.kill(pid, 'SIGKILL')
    for (const id of [hasty, calm])
      await expect.poll(async () => (await shell.json<{ status: string }>(`run show ${id}`)).status).toBe('completed')
    next.ctrlC()
    await next.ended
  })
})
