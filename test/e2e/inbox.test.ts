import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Shell } from './belfry-process.ts'

const page = readFileSync(new URL('../../docs/inbox.md', import.meta.url), 'utf8')

/** The commands of the page, as words. */
const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  block
    .split('\n')
    .filter((line) => line.startsWith('belfry '))
    .map((line) => line.replace(/ +#.*$/, '').slice('belfry '.length))
    .map((line) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')),
)

/** The same question without its wait. */
const atOnce = (words: readonly string[]) => words.filter((word) => word !== '--wait' && word !== '50s')

interface Next {
  readonly message: { readonly id: string; readonly run: string; readonly text: string } | null
}

const stop = (folder: string, session: string) =>
  JSON.stringify({ session_id: session, cwd: folder, hook_event_name: 'Stop', stop_hook_active: false })

describe.each(['sqlite', 'postgres'] as const)('docs/inbox.md on %s', (database) => {
  it('plays as it says: sent, taken, acknowledged, done, listed', async () => {
    const shell = new Shell(database)
    expect(commands.map(([, verb]) => verb)).toEqual(['send', 'send', 'next', 'ack', 'done', 'list', 'sessions'])
    const [own = [], project = [], next = [], ack = [], done = [], list = [], sessions = []] = commands
    for (const words of [own, project]) expect((await shell.belfry(words)).stdout).toMatch(/^sent r-\w+\n$/)
    const { message } = await shell.json<Next>(next)
    expect(message?.text).toMatch(
      /^\[Belfry: run r-\w+ by \w+, planned for .* approves nothing\.\]\n\nIs the deploy healthy\?$/,
    )
    const named = (words: readonly string[]) => words.map((word) => (word === 'MESSAGE' ? (message?.id ?? '') : word))
    expect((await shell.belfry(atOnce(next))).stdout).toContain('has not acknowledged message')
    expect((await shell.belfry(named(ack))).stdout).toBe(`${message?.run} is delivered\n`)
    expect((await shell.belfry(named(done))).stdout).toContain(`the result of ${message?.run} is kept`)
    const shown = await shell.belfry(next)
    expect(shown.stdout).toMatch(/\n\nTriage the new issues\.\n\n<untrusted-(\w+)>\n.*\n\{\n {2}"issues": \[/)
    expect((await shell.belfry(list)).stdout).toMatch(/leased .*Triage[\s\S]* done .*Is the deploy healthy\?/)
    expect((await shell.belfry(sessions)).stdout).toMatch(/^SESSION[^\n]*\n0b7f-main /)
  })

  it('a session that is killed between next and ack gets the message again, once', async () => {
    const shell = new Shell(database)
    await shell.belfry('inbox send Look. --session a')
    await shell.belfry('queue set inbox --lease-ttl 1s')
    const first = await shell.start('inbox next --session a --json').ended
    const lost = (JSON.parse(first.stdout) as Next).message
    const again = await shell.start('inbox next --session a --wait 30s --json').ended
    const second = (JSON.parse(again.stdout) as Next).message
    expect(second?.run).toBe(lost?.run)
    expect((await shell.belfry(`inbox ack ${lost?.id}`)).exit).toBe(4)
    expect((await shell.belfry(`inbox ack ${second?.id}`)).exit).toBe(0)
    expect((await shell.json<Next>('inbox next --session a')).message).toBeNull()
  })

  it('a Stop hook hands the next message over as the reason to go on, and acknowledges it', async () => {
    const shell = new Shell(database)
    await shell.belfry('inbox send Look_at_CI. --session a')
    for (const name of ['claude-stop', 'codex']) {
      const { run } = await shell.json<{ run: string }>(`inbox send Look_${name}. --session ${name}`)
      const { exit, stdout } = await shell.start(`hook ${name}`, { stdin: stop(shell.folder, name) }).ended
      expect(exit).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({
        decision: 'block',
        reason: expect.stringMatching(new RegExp(`^\\[Belfry: run ${run} .*\\]\\n\\nLook_${name}\\.$`)),
      })
      expect(await shell.json(`run show ${run}`)).toMatchObject({ status: 'completed' })
      const nothing = await shell.start(`hook ${name}`, { stdin: stop(shell.folder, name) }).ended
      expect(nothing).toMatchObject({ exit: 0, stdout: '' })
    }
  })

  it('a hook in the background wakes an idle session by its exit code', async () => {
    const shell = new Shell(database)
    await shell.belfry('queue set inbox')
    const waiting = shell.start('hook claude-stop --rewake --wait 30s', { stdin: stop(shell.folder, 'a') })
    await shell.belfry('inbox send Wake_up. --session a')
    const { exit, stdout, stderr } = await waiting.ended
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toMatch(/^\[Belfry: .*\]\n\nWake_up\.\n$/)
  })
})

describe('a hook that cannot hand anything over', () => {
  it('lets the agent stop: without a store in silence, else with what is wrong', async () => {
    const shell = new Shell('sqlite')
    const run = (words: string, stdin: string) => shell.start(words, { stdin }).ended
    expect(await run('hook claude-stop', stop(shell.folder, 'a'))).toEqual({ exit: 0, stdout: '', stderr: '' })
    expect(await run('hook claude-stop', 'no json')).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching('session_id'),
    })
    expect(await run('hook claude', stop(shell.folder, 'a'))).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching('claude is no hook'),
    })
    expect(await run('hook codex --rewake', stop(shell.folder, 'a'))).toMatchObject({ exit: 1 })
    expect(await run('hook claude-stop --wait 1m', stop(shell.folder, 'a'))).toMatchObject({ exit: 1 })
  })
})
