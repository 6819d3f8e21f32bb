import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandExecutor } from '../../../src/targets/command/command-executor.ts'
import { secretResolver } from '../../../src/targets/secret.ts'
import { claimId, executed, Stage, script } from './attempt.ts'

let folder = ''
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'belfry-command-')))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('how a program ended is told', () => {
  it('with its exit code, what it said and how long it took', async () => {
    const { facts, result, heard } = await executed({ command: 'echo out; echo err >&2; exit 3' })
    expect(facts).toEqual({ exitCode: 3, signal: null, text: 'out\n' })
    expect(result).toEqual({ exitCode: 3, signal: null, durationMs: expect.any(Number) })
    expect(heard.split('\n').sort()).toEqual(['', 'err', 'out'])
  })

  it('with the signal that killed it, though a shell stood before it', async () => {
    const { facts, result } = await executed({ command: ['sh', '-c', 'kill -9 $$'] })
    expect(facts).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect(facts.error).toBeUndefined()
  })

  it('with what it wrote to stdout read as JSON, when it is JSON', async () => {
    expect((await executed({ command: ['echo', '{"rows":[1]}'] })).facts.json).toEqual({ rows: [1] })
    expect('json' in (await executed({ command: ['echo', '{"rows":'] })).facts).toBe(false)
  })

  it('with the end of a long text, which is no JSON even when the end alone would be', async () => {
    const { facts, heard } = await executed({ command: script(`process.stdout.write('1'.repeat(300_000) + '7')`) })
    expect(heard).toHaveLength(300_001)
    expect(facts.text).toBe(`${'1'.repeat(100 * 1024 - 1)}7`)
    expect('json' in facts).toBe(false)
  })

  it('and one that ends with 127 by itself is not taken for one that was not found', async () => {
    expect((await executed({ command: ['sh', '-c', 'exit 127'] })).facts).toMatchObject({ exitCode: 127 })
  })
})

describe('what a program is given', () => {
  it('its arguments, as they are: no shell looks at them', async () => {
    const { heard } = await executed({ command: ['printf', '<%s>', '$HOME', '* ; ls', '', "it's", '-n', 'ü\n'] })
    expect(heard).toBe(`<$HOME><* ; ls><><it's><-n><ü\n>`)
  })

  it('or a line that a shell does look at, even one that looks like an option', async () => {
    expect((await executed({ command: 'A=1; echo $((A + 1)) | cat' })).heard).toBe('2\n')
    expect((await executed({ command: '-c 2>&1 || echo ran' })).heard).toContain('ran')
  })

  it('of the environment exactly what is promised, and nothing of the rest of ours', async () => {
    const environment = {
      PATH: process.env.PATH,
      HOME: '/home/bell',
      USER: 'bell',
      LANG: 'C.UTF-8',
      TZ: 'Europe/Paris',
      SHELL: '/bin/sh',
      CANARY: 'sings',
      BELFRY_TOKEN: 'token',
      BELFRY_SECRET_KEY: 'secret',
      BELFRY_MAX_CONCURRENT: '5',
    }
    const stage = new Stage({ command: ['env'], env: { TZ: 'Asia/Tokyo', LINES: 'a\tb', EMPTY: '', lower: 'x' } })
    await commandExecutor({ environment })(stage.attempt)
    // The shell of macOS counts how deep it is in shells, and does not let that be taken away.
    const heard = stage.heard.replace(/^SHLVL=0\n/m, '').replace(/^BELFRY_RESULT_FILE=.*\n/m, '')
    expect(heard.trimEnd().split('\n').sort()).toEqual(
      [
        `PATH=${process.env.PATH}`,
        'HOME=/home/bell',
        'USER=bell',
        'LANG=C.UTF-8',
        'SHELL=/bin/sh',
        'TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'BELFRY_RUN=r7',
        'BELFRY_ATTEMPT=3',
        `BELFRY_CLAIM=${claimId}`,
        'BELFRY_IDEMPOTENCY_KEY=key-7',
        'BELFRY_PLANNED_AT=2026-01-05T09:00:00.000Z',
        'BELFRY_QUEUE=nightly',
        'BELFRY_SOURCE=cron',
        'TZ=Asia/Tokyo',
        'LINES=a\tb',
        'EMPTY=',
        'lower=x',
      ].sort(),
    )
  })

  it('a PATH even when we have none', async () => {
    const stage = new Stage({ command: 'echo $PATH' })
    await commandExecutor({ environment: {} })(stage.attempt)
    expect(stage.heard).toBe('/usr/local/bin:/usr/bin:/bin\n')
  })

  it('no pipe or file of ours but the three that every program has', async () => {
    const { heard } = await executed({
      command: 'for fd in 3 4 5 6 7 8 9; do ( : >&$fd ) 2>&- && echo $fd; done; true',
    })
    expect(heard).toBe('')
  })

  it('the payload as JSON to read, and then the end of it', async () => {
    const payload = { day: 'today', rows: ['ü', null] }
    const { facts } = await executed({ command: ['cat'] }, { payload })
    expect(facts.json).toEqual(payload)
    expect((await executed({ command: ['cat'] }, { payload: null })).heard).toBe('null')
  })

  it('the payload also by name, from a file that nobody else can find', async () => {
    const payload = { day: 'today' }
    expect((await executed({ command: ['cat', '/dev/stdin'] }, { payload })).facts.json).toEqual(payload)
    const links = script(`console.log(require('node:fs').fstatSync(0).nlink)`)
    expect((await executed({ command: links }, { payload })).heard).toBe('0\n')
  })

  it('nothing to read without a payload, and it does not wait for any', async () => {
    expect((await executed({ command: 'cat; echo over' })).heard).toBe('over\n')
  })

  it('a payload that it need not read', async () => {
    const { facts } = await executed({ command: ['true'] }, { payload: 'x'.repeat(250_000) })
    expect(facts).toMatchObject({ exitCode: 0 })
  })

  it('the folder that the target names, and a program that is looked up from there', async () => {
    await writeFile(join(folder, 'tool'), '#!/bin/sh\npwd\n', { mode: 0o755 })
    expect((await executed({ command: ['pwd'], cwd: folder })).heard).toBe(`${folder}\n`)
    expect((await executed({ command: ['tool'], cwd: folder, env: { PATH: '.:/usr/bin:/bin' } })).heard).toBe(
      `${folder}\n`,
    )
  })
})

describe('a program that cannot be started is an error that says so, and did nothing', () => {
  const failed = async (target: Record<string, unknown>) => {
    const { facts, result, heard } = await executed(target)
    expect(result).toBeUndefined()
    expect(heard).toBe('')
    return { error: facts.error, retryable: facts.retryable }
  }

  it('when it is nowhere on the PATH of the target', async () => {
    const env = { PATH: '/nowhere:/else' }
    const { error, retryable } = await failed({ command: ['no-such-program'], env })
    expect(error).toMatch(/^The program no-such-program is in none of the folders of its PATH; .*absolute path/)
    expect(retryable).toBe(true)
  })

  it('when there is no such file, or it may not be executed', async () => {
    await writeFile(join(folder, 'plain'), 'text', { mode: 0o600 })
    expect((await failed({ command: [join(folder, 'nothing')] })).error).toMatch(/nothing does not exist; it needs/)
    expect((await failed({ command: [join(folder, 'plain')] })).error).toMatch(/plain may not be used .*EACCES/)
    expect((await failed({ command: [folder] })).error).toMatch(/is not a file/)
  })

  it('when its folder is none', async () => {
    expect(await failed({ command: ['true'], cwd: join(folder, 'gone') })).toEqual({
      error: `The working folder ${folder}/gone does not exist; it needs a folder that the worker may enter.`,
      retryable: true,
    })
    expect((await failed({ command: ['true'], cwd: '/dev/null' })).error).toMatch(/null is not a folder/)
  })

  it('when it has more arguments than the system allows, which no further attempt mends', async () => {
    const { error, retryable } = await failed({ command: ['true', ...Array(4_000).fill('x'.repeat(10_000))] })
    expect(error).toMatch(/longer than the system allows/)
    expect(retryable).toBe(false)
  })

  it('when the target is not right after all, which no further attempt mends', async () => {
    const { error, retryable } = await failed({ command: ['./relative'] })
    expect(error).toBe(
      `The target's command[0] is a relative path; it needs the name of a program, or an absolute path.`,
    )
    expect(retryable).toBe(false)
  })

  it('when the attempt was stopped before', async () => {
    const stage = new Stage({ command: ['touch', join(folder, 'touched')] })
    stage.stop()
    const { facts } = await commandExecutor()(stage.attempt)
    expect(facts.error).toMatch(/stopped before it began/)
    expect(await readdir(folder)).not.toContain('touched')
  })
})

describe('secrets', () => {
  const value = 'a canary of 1 secret'

  it('reach the program in arguments and environment, and are in nothing that it gives back', async () => {
    const command = [
      'sh',
      '-c',
      'printf %s "$1" | wc -c; echo "$1 $SAME"; echo "$SAME" >&2; exit 4',
      'sh',
      { secret: 'KEY' },
    ]
    const ended = await executed({ command, env: { SAME: { secret: 'KEY' } } })
    expect(ended.facts.text?.trim().split('\n')).toEqual([String(value.length), '[secret KEY] [secret KEY]'])
    expect(JSON.stringify(ended)).not.toContain('canary')
  })

  it('are found when the program writes them a piece at a time', async () => {
    const letters = `for (const letter of process.argv[1]) require('node:fs').writeSync(1, letter)`
    const { heard, facts } = await executed({ command: [...script(letters), { secret: 'KEY' }] })
    expect(heard).toBe('[secret KEY]')
    expect(facts.text).toBe('[secret KEY]')
  })

  it('that are missing are an error that names the places, and nothing is started', async () => {
    const { facts } = await executed({ command: ['touch', join(folder, 'begun'), { secret: 'OTHER' }] })
    expect(facts.error).toMatch(/secret OTHER is missing: BELFRY_SECRET_OTHER and BELFRY_SECRET_OTHER_FILE are not set/)
    expect(facts.retryable).toBe(true)
    expect(await readdir(folder)).not.toContain('begun')
  })

  it('are in no message about a program that could not be started', async () => {
    const env = { PATH: { secret: 'KEY' } }
    const { facts } = await executed({ command: ['no-such-program'], env })
    expect(facts.error).toContain('none of the folders of its PATH')
    expect(facts.error).not.toContain('canary')
    const tooLong = await executed({ command: ['true', ...Array(200_000).fill({ secret: 'KEY' })] })
    expect(tooLong.facts.error).toMatch(/longer than the system allows/)
    expect(tooLong.facts.error).not.toContain('canary')
  })

  it('come from our own environment when no other place is given', async () => {
    const stage = new Stage({ command: ['echo', { secret: 'KEY' }] })
    await commandExecutor({ environment: { BELFRY_SECRET_KEY: 'another' } })(stage.attempt)
    expect(stage.heard).toBe('[secret KEY]\n')
    const none = await commandExecutor({ environment: {}, secrets: secretResolver({ env: {}, folder }) })(stage.attempt)
    expect(none.facts.error).toContain(`no file ${join(folder, 'KEY')}`)
  })
})
