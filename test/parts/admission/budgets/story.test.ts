import { describe, expect, it } from 'vitest'
import { Shell } from '../../../e2e/belfry-process.ts'

const typed = (shell: Shell, words: string | readonly string[]) => shell.start(words).ended

describe.each(['sqlite', 'postgres'] as const)('at the terminal on %s', (database) => {
  it('a budget is spent, says why nothing starts and until when, and a topup lets it go on', async () => {
    const shell = new Shell(database)
    const put = await typed(
      shell,
      'budget put claude-day --per day --zone Europe/Paris --money 40USD --tokens 2000000 --runs 200 --for profile=claude',
    )
    expect(put.stdout).toMatch(
      /^budget claude-day counts runs of profile=claude a day: 200 runs, 2000000 tokens, 40 USD left; its next period begins in /,
    )
    await shell.belfry('queue set mail')
    await shell.belfry('budget put mail --per day --zone UTC --tokens 10 --for queue=mail')
    const worker = await shell.up()
    const command = 'echo \'{"usage":{"out":12},"cost":0.25}\' > "$BELFRY_RESULT_FILE"'
    const usage = '{"tokensOut":"$.usage.out","money":"$.cost","currency":"USD"}'
    const { id: first } = await shell.json<{ id: string }>([
      ...['run', 'enqueue', '--queue', 'mail', '--tags', 'letters', '--usage', usage, '--command', command],
    ])
    await worker.told(new RegExp(`Run ${first}, attempt 1, completed`))
    await worker.told(/Work on queue:mail is held by budget mail .*: Budget mail is spent: 10 tokens a day\./)
    const { id: second } = await shell.json<{ id: string }>('run enqueue --queue mail -- echo second')
    const why = await typed(shell, ['explain', 'run', second])
    expect(why.stdout).toMatch(/Budget mail is spent: 10 tokens a day\.[\s\S]* budget topup mail/)
    expect((await typed(shell, 'admission')).stdout).toMatch(/queue:mail +1 +budget .* budget topup mail/)
    expect((await typed(shell, 'budget list')).stdout).toMatch(/mail +queue=mail +day +0 tokens /)
    expect((await typed(shell, 'cost --by tag')).stdout).toMatch(/letters +1 +12 +0\.25 USD +unknown +0\.25 USD/)

    const more = await typed(shell, 'budget topup mail --tokens 100')
    expect(more.stdout).toMatch(/tokens +98 tokens left of 10 tokens and 100 tokens added/)
    await worker.told(new RegExp(`Run ${second}, attempt 1, completed`))
    const refused = await typed(shell, 'budget put mail --per day --money 40 --for queue=mail')
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringMatching(/--money +names no currency/) })
    expect(await typed(shell, 'budget delete mail --yes')).toMatchObject({ exit: 0 })
  })

  it('a quota of runs refuses more until it is raised', async () => {
    const shell = new Shell(database)
    await typed(shell, 'namespace set default --runs-per-month 1')
    await shell.belfry('run enqueue -- echo one')
    const refused = await typed(shell, 'run enqueue -- echo two')
    expect(refused).toMatchObject({ exit: 5, stderr: expect.stringContaining('has made 1 of the 1 runs of its month') })
    expect((await typed(shell, 'namespace show default')).stdout).toMatch(/runs +1 of 1 this month/)
    await typed(shell, 'namespace set default --runs-per-month 2')
    await shell.belfry('run enqueue -- echo two')
  })
})
