import { describe, expect, it } from 'vitest'
import { Shell } from '../../../e2e/belfry-process.ts'
import { Provider } from './provider.ts'

/** Types a command as a process of its own. */
const typed = (shell: Shell, words: string | readonly string[]) => shell.start(words).ended

describe.each(['sqlite', 'postgres'] as const)('at the terminal on %s', (database) => {
  it('a provider that refuses blocks its account, explain says until when and why, and unblocking lets one run probe', async () => {
    const shell = new Shell(database)
    const provider = await Provider.open()
    expect(
      (
        await typed(shell, [
          'account',
          'put',
          'claude-max',
          '--max-concurrent',
          '3',
          '--headroom',
          '{"at":0.8,"priority":50}',
        ])
      ).stdout,
    ).toMatch(
      /^created account claude-max\n {2}state +open\n {2}at-work +0 of 3\n {2}headroom +above 80 % only priority 50/,
    )
    const enqueue = ['run', 'enqueue', '--http', provider.url, '--account']
    const misspelt = await typed(shell, [...enqueue, 'claud-max'])
    expect(misspelt).toMatchObject({ exit: 2, stdout: '' })
    expect(misspelt.stderr).toMatch(/--account +names the account "claud-max"[\s\S]*such as "claude-max"/)
    const { id: first } = await shell.json<{ id: string }>([...enqueue, 'claude-max'])
    const worker = await shell.up('--allow-private')
    await provider.come(1)
    provider.answer(429, { 'retry-after': '7200' })
    await worker.told(
      new RegExp(`Work on account:claude-max is held by belfry .* HTTP 429 limit, reported by run ${first}\\.`),
    )
    const { id } = await shell.json<{ id: string }>([...enqueue, 'claude-max'])

    const { stdout: why } = await typed(shell, ['explain', 'run', id])
    expect(why).toMatch(
      new RegExp(
        `^${id} +held-by +Account claude-max is blocked: HTTP 429 limit, reported by run ${first}\\.\\n` +
          ' +- It resumes by itself; one run probes first: in (2 h|1 h 59 min), .*\\n' +
          ' +- Or unblock the account\\. +.* account unblock claude-max\\n',
      ),
    )
    expect((await typed(shell, 'account show claude-max')).stdout).toMatch(
      /state +blocked until .*\(in (2 h|1 h 59 min)/,
    )
    expect((await typed(shell, 'admission')).stdout).toMatch(
      /account:claude-max +2 +account-blocked +in .*account unblock claude-max/,
    )
    expect(await typed(shell, ['account', 'block', 'claude-max', '--for', '9d', '--reason', 'x'])).toMatchObject({
      exit: 2,
    })

    expect(await typed(shell, 'account unblock claude-max')).toMatchObject({ exit: 0 })
    await provider.come(1)
    expect((await typed(shell, 'account list')).stdout).toMatch(/claude-max +probing, 1 of 1 +1 +3/)
    provider.answer(200)
    await provider.come(1)
    provider.answer(200)
    await worker.told(new RegExp(`Run ${id}, attempt \\d, completed`))
    expect(await typed(shell, 'account unblock claude-max')).toMatchObject({ exit: 4 })
    expect((await typed(shell, ['explain', 'run', first])).stdout).toMatch(/Attempt 1 used account claude-max\./)
  })
})
