import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { executed } from './attempt.ts'

const file = '"$BELFRY_RESULT_FILE"'

describe('the result file of a command', () => {
  it('is its result and what its answer is judged by, and is gone afterwards', async () => {
    const { heard, ...ended } = await executed({ command: `printf '{"rows":[1,2]}' > ${file}; echo ${file}` })
    expect(ended).toMatchObject({ facts: { exitCode: 0, json: { rows: [1, 2] } }, result: { rows: [1, 2] } })
    expect(existsSync(heard.trim())).toBe(false)
  })

  it('is private', async () => {
    const { heard } = await executed({ command: `stat -c %a "$(dirname ${file})"` })
    expect(heard).toBe('700\n')
  })

  it('that is not written changes nothing', async () => {
    const { heard, ...ended } = await executed({ command: 'echo hi' })
    expect(ended).toMatchObject({ result: { exitCode: 0, durationMs: expect.any(Number) } })
    expect(heard).toBe('hi\n')
  })

  it.each([
    ['is not JSON', `echo '{' > ${file}`, 'the result file is not JSON and was not read'],
    ['is too long', `head -c 1048577 /dev/zero > ${file}`, 'the result file is over 1 MB and was not read'],
    ['is a link to another file', `ln -s /etc/passwd ${file}`, 'the result file is not a plain file'],
    ['is a pipe', `mkfifo ${file}`, 'the result file is not a plain file'],
    ['is a folder', `mkdir ${file}`, 'the result file is not a plain file'],
  ])('that %s is not read, and the output says so', async (_, command, why) => {
    const { heard, ...ended } = await executed({ command })
    expect(ended).toMatchObject({ facts: { exitCode: 0 }, result: { exitCode: 0 } })
    expect(heard).toContain(`[belfry: ${why}]`)
  })
})
