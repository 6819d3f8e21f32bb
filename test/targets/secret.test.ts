import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSecretReference, secretResolver } from '../../src/targets/secret.ts'

let folder = ''
const canary = 'canary that must not be shown'
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-secrets-'))
  await writeFile(join(folder, 'FILED'), `${canary}\n`, { mode: 0o600 })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const resolved = (value: unknown, env: Record<string, string> = {}) => secretResolver({ env, folder }).resolve(value)
/** The message of the refusal, which never shows a value. */
async function refusal(value: unknown, env: Record<string, string> = {}): Promise<{ code: string; message: string }> {
  const error = await resolved(value, env).then(
    () => expect.fail('was not refused'),
    (thrown) => thrown,
  )
  expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain('canary')
  return { code: error.code, message: error.message }
}

describe('a secret is taken', () => {
  it('from the environment before anything else', async () => {
    const env = { BELFRY_SECRET_FILED: 'from the environment', BELFRY_SECRET_FILED_FILE: '/nowhere' }
    expect((await resolved({ secret: 'FILED' }, env)).value).toBe('from the environment')
  })

  it('from the file that the environment names, whose mode is that of whoever named it', async () => {
    const path = join(folder, 'mounted')
    await writeFile(path, 'from the mount\r\n')
    await chmod(path, 0o444)
    expect((await resolved({ secret: 'KEY' }, { BELFRY_SECRET_KEY_FILE: path })).value).toBe('from the mount')
  })

  it('from the folder of secrets, without the newline at its end but with every other', async () => {
    expect((await resolved({ secret: 'FILED' })).value).toBe(canary)
    await writeFile(join(folder, 'LINES'), '\none\ntwo \n\n', { mode: 0o400 })
    expect((await resolved({ secret: 'LINES' })).value).toBe('\none\ntwo \n')
  })

  it('anew each time, so that a changed secret counts from then on', async () => {
    const resolver = secretResolver({ env: {}, folder })
    await writeFile(join(folder, 'TURNING'), 'one', { mode: 0o600 })
    expect((await resolver.resolve({ secret: 'TURNING' })).value).toBe('one')
    await writeFile(join(folder, 'TURNING'), 'two', { mode: 0o600 })
    expect((await resolver.resolve({ secret: 'TURNING' })).value).toBe('two')
  })
})

describe('references are replaced', () => {
  const env = { BELFRY_SECRET_A: 'alpha', BELFRY_SECRET_B: 'beta' }

  it('however deep, and each secret is told once for redaction', async () => {
    const value = { headers: { x: { secret: 'A' } }, list: [1, { secret: 'B' }, [{ secret: 'A' }]], plain: null }
    const before = structuredClone(value)
    expect(await resolved(value, env)).toEqual({
      value: { headers: { x: 'alpha' }, list: [1, 'beta', ['alpha']], plain: null },
      secrets: [
        { name: 'A', value: 'alpha' },
        { name: 'B', value: 'beta' },
      ],
    })
    expect(value).toEqual(before)
  })

  it('and nothing else is: an object with more fields is ordinary data', async () => {
    const value = { body: { secret: 'A', of: 'mine' }, text: '{"secret":"A"}', empty: {} }
    const answer = await resolved(value, env)
    expect(answer.value).toBe(value)
    expect(answer.secrets).toEqual([])
    expect(isSecretReference(JSON.parse('{"__proto__":{"secret":"A"}}'))).toBe(false)
  })

  it('without losing a field that is called like a prototype', async () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":{"secret":"A"}}')
    expect(JSON.stringify((await resolved(value, env)).value)).toBe('{"__proto__":{"a":1},"b":"alpha"}')
  })
})

describe('a secret is refused', () => {
  it('when it is missing, with the three places and none of the values', async () => {
    expect(await refusal({ a: { secret: 'LOST' } }, { BELFRY_SECRET_OTHER: canary })).toEqual({
      code: 'unavailable',
      message: `The secret LOST is missing: BELFRY_SECRET_LOST and BELFRY_SECRET_LOST_FILE are not set, and there is no file ${join(folder, 'LOST')}.`,
    })
    const none = secretResolver({ env: {}, folder: null }).resolve({ secret: 'LOST' })
    await expect(none).rejects.toThrow(/no folder of secrets/)
  })

  it.each(['640', '604', '620'])('when its file may be used by others (mode %s)', async (mode) => {
    await writeFile(join(folder, 'OPEN'), canary)
    await chmod(join(folder, 'OPEN'), Number.parseInt(mode, 8))
    const { code, message } = await refusal({ secret: 'OPEN' })
    expect(code).toBe('unavailable')
    expect(message).toMatch(new RegExp(`OPEN has the mode 0${mode}, .*0600`))
  })

  // Only root can give a file to another user.
  it.skipIf(process.geteuid?.() !== 0)('when its file belongs to another user, who chose what it says', async () => {
    await writeFile(join(folder, 'THEIRS'), canary, { mode: 0o600 })
    await chown(join(folder, 'THEIRS'), 65_534, -1)
    const { code, message } = await refusal({ secret: 'THEIRS' })
    expect({ code, message }).toEqual({
      code: 'unavailable',
      message: expect.stringContaining('THEIRS belongs to user 65534, and this is user 0'),
    })
  })

  it('when the file that was named is not there: no other place is looked in', async () => {
    const { message } = await refusal({ secret: 'FILED' }, { BELFRY_SECRET_FILED_FILE: join(folder, 'canary') })
    expect(message).toMatch(/the file that BELFRY_SECRET_FILED_FILE names does not exist/)
  })

  it('when it is empty, too long, no text, or holds what nothing can carry', async () => {
    await writeFile(join(folder, 'EMPTY'), '\n', { mode: 0o600 })
    await writeFile(join(folder, 'LONG'), 'canary'.repeat(6_000), { mode: 0o600 })
    await writeFile(join(folder, 'BYTES'), Buffer.from([0x61, 0xff]), { mode: 0o600 })
    await mkdir(join(folder, 'FOLDER'), { mode: 0o700 })
    expect((await refusal({ secret: 'EMPTY' })).message).toMatch(/EMPTY is empty/)
    expect((await refusal({ secret: 'A' }, { BELFRY_SECRET_A: '' })).message).toMatch(/BELFRY_SECRET_A is empty/)
    expect((await refusal({ secret: 'LONG' })).message).toMatch(/LONG holds over 32768 bytes/)
    expect((await refusal({ secret: 'BYTES' })).message).toMatch(/BYTES is not text in UTF-8/)
    expect((await refusal({ secret: 'FOLDER' })).message).toMatch(/FOLDER is not a file/)
    expect((await refusal({ secret: 'A' }, { BELFRY_SECRET_A: 'a canary\0' })).message).toMatch(/holds a NUL/)
  })

  it('when its file is a pipe that nobody writes to, instead of being waited for', async () => {
    execFileSync('mkfifo', ['-m', '600', join(folder, 'PIPE')])
    expect((await refusal({ secret: 'PIPE' })).message).toMatch(/PIPE is not a file/)
  })

  it.each(['../FILED', 'a/b', '', '1A', 'A-B', 'A'.repeat(65), 'A\n', 5, null])('when its name is %j', async (name) => {
    const { code, message } = await refusal({ secret: name })
    expect(code).toBe('invalid')
    expect(message).toMatch(/name is not valid: it needs 1 to 64/)
  })
})
