import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isRunning, until, vanished } from '../../targets/command/processes.ts'
import { playAgents, type Scene, terminalsOf } from './scene.ts'

const isTmuxHere = (() => {
  try {
    return execFileSync('tmux', ['-V']).length > 0
  } catch {
    return false
  }
})()

const socketOf = ({ folder }: Scene) => terminalsOf(join(folder, 'belfry.db'))
const tmux = (scene: Scene, ...args: string[]) =>
  execFileSync('tmux', ['-S', socketOf(scene), ...args], { encoding: 'utf8' })

async function begun(scene: Scene, target: object, more: object = {}): Promise<string> {
  const { belfry } = scene
  await belfry.queues.set('default', { maxAttempts: 1, onExhausted: 'fail' })
  const { id } = await belfry.runs.enqueue({ target, ...more } as never)
  await belfry.start()
  return id
}

const stateOf = async ({ belfry }: Scene, id: string) => {
  const { runs } = await belfry.runs.list({})
  return runs.find((run) => run.id === id)?.attempt?.agent?.state
}

// A terminal needs tmux: without tmux there is nothing to test.
describe.runIf(isTmuxHere)('an agent in a terminal', () => {
  it('answers as anywhere: text, tokens and cost are read, the output is plain, and the terminal is closed', async () => {
    const scene = await playAgents()
    const id = await begun(scene, scene.target('claude', '', { terminal: 'tmux' }))
    const run = await scene.belfry.runs.wait(id)
    expect(run).toMatchObject({ end: { status: 'completed' }, result: { value: { text: 'The deploy is healthy.' } } })
    expect((await scene.belfry.runs.output(id))?.text).toBe('I look at the deploy.\n→ Bash\nThe deploy is healthy.\n')
    const terminal = { session: `belfry-${id}` }
    const agent = { terminal, state: 'done', tokensIn: 1_500, money: { amount: 31_207 } }
    expect(await scene.belfry.runs.attempts(id)).toMatchObject([{ outcome: 'success', agent }])
    expect(scene.starts()[0]?.input).toMatch(/Is the deploy healthy\?$/)
    await until(() => !existsSync(socketOf(scene)) || !isServing(scene), 'the server of the terminals has ended')
  })

  it('asks, is shown to ask, waits, and goes on when a person types an answer', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    const id = await begun(scene, scene.target('asking', 'answered'))
    await expect.poll(() => stateOf(scene, id)).toBe('question')
    const screen = await belfry.runs.screen(id)
    expect(screen).toMatchObject({ session: `belfry-${id}`, open: true })
    expect(screen.text).toContain('\u001b[31mDo you want to proceed? (y/n)')
    tmux(scene, 'send-keys', '-t', `belfry-${id}`, 'y', 'Enter')
    expect(await belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' } })
  })

  it('gets its prompt and environment as they are, although a shell starts it: nothing of them is run', async () => {
    const scene = await playAgents()
    const prompt = `'; touch hacked; $(touch hacked) \`touch hacked\`\n"quoted" #{pane_pid} %H`
    const target = scene.target('asking', '', { prompt })
    const env = { ...target.env, ODD: `it's "odd"\n$HOME` }
    const id = await begun(scene, { ...target, env, cwd: scene.folder })
    await scene.belfry.runs.wait(id)
    const [started] = scene.starts()
    expect(started?.args.at(-1)).toMatch(
      /\n\n'; touch hacked; \$\(touch hacked\) `touch hacked`\n"quoted" #\{pane_pid\} %H$/,
    )
    expect(started?.env).toMatchObject({ ODD: env.ODD, BELFRY_RUN: id })
    expect(started?.env.TMUX).toBeUndefined()
    expect(started?.cwd).toBe(scene.folder)
    expect(existsSync(join(scene.folder, 'hacked'))).toBe(false)
  })

  it('that ends without an answer has failed by its exit code, or by the signal that ended it', async () => {
    const scene = await playAgents()
    const id = await begun(scene, scene.target('claude', 'half exit:3', { terminal: 'tmux' }))
    expect((await scene.belfry.runs.wait(id)).end?.reason).toMatch(/^no-answer: .*\(exit code 3\)/)
    const other = await begun(scene, scene.target('claude', 'slow', { terminal: 'tmux' }))
    await until(() => scene.starts().length === 2, 'the second has started')
    process.kill(scene.starts()[1]?.pid as number, 'SIGKILL')
    expect((await scene.belfry.runs.wait(other)).end?.reason).toMatch(/^no-answer: .*SIGKILL/)
  })

  it('that floods its terminal is read to the end', async () => {
    const scene = await playAgents()
    const id = await begun(scene, scene.target('claude', 'flood:5', { terminal: 'tmux' }))
    expect(await scene.belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' } })
  })

  it('begins although the terminal of another agent, and with it their server, ends at the same moment', async () => {
    const scene = await playAgents()
    await scene.belfry.start()
    const ids: string[] = []
    for (let each = 0; each < 12; each++) {
      const target = scene.target('claude', '', { terminal: 'tmux' })
      ids.push((await scene.belfry.runs.enqueue({ target } as never)).id)
    }
    for (const id of ids) {
      expect(await scene.belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' }, attempts: 0 })
    }
  })

  it('is ended by a cancel with all its children, and when its terminal is closed from outside', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    const id = await begun(scene, scene.target('claude', 'slow child deaf', { terminal: 'tmux' }))
    await until(() => scene.children().length === 1, 'the agent has started')
    await belfry.runs.cancel(id)
    expect(await belfry.runs.wait(id)).toMatchObject({ end: { status: 'cancelled' } })
    const other = await begun(scene, scene.target('claude', 'slow child', { terminal: 'tmux' }))
    await until(() => scene.children().length === 2, 'the second has started')
    tmux(scene, 'kill-session', '-t', `=belfry-${other}:`)
    expect((await belfry.runs.wait(other)).end?.reason).toMatch(/^no-answer/)
    await vanished(...scene.starts().map(({ pid }) => pid), ...scene.children())
  })

  it('can be attached to: a caller without a terminal gets the command, read-only unless asked otherwise', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    const id = await begun(scene, scene.target('claude', 'slow', { terminal: 'tmux' }))
    await until(() => scene.starts().length === 1, 'the agent has started')
    const place = `tmux -S ${socketOf(scene)} attach-session`
    expect(await belfry.runs.attach(id)).toMatchObject({ attached: false, command: `${place} -r -t =belfry-${id}:` })
    expect((await belfry.runs.attach(id, { interact: true })).command).toBe(`${place} -t =belfry-${id}:`)
    await belfry.runs.cancel(id)
  })

  it('that a dead worker left has its terminal closed by the next worker', async () => {
    const scene = await playAgents()
    const id = await begun(scene, scene.target('claude'))
    await scene.belfry.runs.wait(id)
    await scene.belfry.stop()
    const [pid] = [
      tmux(
        scene,
        '-f',
        '/dev/null',
        'new-session',
        '-d',
        '-P',
        '-F',
        '#{pane_pid}',
        '-s',
        `belfry-${id}`,
        'sleep',
        '600',
      ),
    ]
    await scene.belfry.start()
    await until(() => !isRunning(Number(pid)), 'the terminal is closed')
  })
})

function isServing(scene: Scene): boolean {
  try {
    return tmux(scene, 'list-sessions') !== ''
  } catch {
    return false
  }
}

describe('without a terminal', () => {
  it('a run is not attached to, and the refusal says how to follow it', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    const id = await begun(scene, scene.target('claude', 'slow'))
    await until(() => scene.starts().length === 1, 'the agent has started')
    const hint = { code: 'conflict', hint: expect.stringContaining(`belfry run output -f ${id}`) }
    await expect(belfry.runs.attach(id)).rejects.toMatchObject(hint)
    await expect(belfry.runs.screen(id)).rejects.toMatchObject(hint)
    const { id: waiting } = await belfry.runs.enqueue({
      target: scene.target('claude'),
      notBefore: '2100-01-01T00:00Z',
    } as never)
    await expect(belfry.runs.attach(waiting)).rejects.toMatchObject({ hint: expect.stringContaining('output -f') })
    await belfry.runs.cancel(id)
    await belfry.runs.wait(id)
    await expect(belfry.runs.attach(id)).rejects.toMatchObject({
      message: expect.stringContaining('has no terminal'),
      hint: expect.stringMatching(`\`belfry run output ${id}\``),
    })
  })

  it('a machine without tmux refuses runs that need one', async () => {
    const scene = await playAgents()
    const { PATH } = process.env
    process.env.PATH = '/nowhere'
    try {
      const target = scene.target('claude', '', { terminal: 'tmux' })
      await expect(scene.belfry.runs.enqueue({ target } as never)).rejects.toThrow(/tmux, which is not installed/)
    } finally {
      process.env.PATH = PATH
    }
  })

  it.each([[{ terminal: 'screen' }, /agent.terminal is the string screen/]])('%j is refused', async (agent, says) => {
    const { belfry, target } = await playAgents()
    await expect(belfry.runs.enqueue({ target: target('claude', '', agent) } as never)).rejects.toThrow(says)
  })
})
