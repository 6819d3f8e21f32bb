import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfigFile } from '../../../src/parts/config/config-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-config-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function written(text: string | Buffer): string {
  const path = join(folder, 'belfry.yaml')
  writeFileSync(path, text)
  return path
}

describe('a file', () => {
  it('is read as what it says, and known by its very text', async () => {
    const first = await readConfigFile(written("source: ops\nschedules:\n  a: { cron: '*/5 * * * *' }\n"))
    expect(first).toMatchObject({
      isThere: true,
      document: { source: 'ops', schedules: { a: { cron: '*/5 * * * *' } } },
    })
    const second = await readConfigFile(written("source: ops\nschedules:\n  a: { cron: '*/5 * * * *' } # five\n"))
    expect(second.document).toEqual(first.document)
    expect(second.hash).not.toBe(first.hash)
  })

  it('keeps texts that other YAML takes for dates, numbers or switches', async () => {
    const text = 'source: on\nschedules: { a: { at: 2026-12-01T09:00Z, every: 10s, description: 12:30 } }'
    expect((await readConfigFile(written(text))).document).toEqual({
      source: 'on',
      schedules: { a: { at: '2026-12-01T09:00Z', every: '10s', description: '12:30' } },
    })
  })

  it.each([
    ['', true],
    ['# nothing yet\n', true],
    [null, false],
  ])('that says nothing (%j) is no document', async (text, isThere) => {
    const path = text === null ? join(folder, 'absent.yaml') : written(text)
    expect(await readConfigFile(path)).toMatchObject({ isThere, document: null })
  })

  it.each([
    ['source: ops\nschedules:\n  a:\n    cron: */5 * * * *\n', /line 4, column \d+/, /quotes/],
    ['source: a\nsource: b\n', /line 2, column 1: the name "source" is given twice/, /nothing of it was applied/],
    ['source: [a\n', /line 2, column 1/, /Correct/],
    ['\tsource: a\n', /line 1/, /./],
    ['source: !mine ops\n', /line 1/, /./],
    ['a: &x 1\nb: *x\n', /has the alias \*x/, undefined],
    ['- a\n- b\n', /is a list/, undefined],
    ['just words', /is a string/, undefined],
    ['a: { 1: x, "1": y }\n', /line 1, column 12: the name "1" is given twice/, undefined],
    ['a: { __proto__: x }\n', /has the name __proto__/, undefined],
    ['a: 12345678901234567890\n', /has the number 12345678901234567890, .* a text: "12345678901234567890"/, undefined],
  ])('%j is refused with what is wrong and where', async (text, message, hint) => {
    const error: unknown = await readConfigFile(written(text)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) })
    if (hint !== undefined) expect(error).toMatchObject({ hint: expect.stringMatching(hint) })
  })

  it('that never ends is refused, and not read on and on', async () => {
    const path = join(folder, 'belfry.yaml')
    symlinkSync('/dev/zero', path)
    await expect(readConfigFile(path)).rejects.toThrow(`${path} is a device or a socket`)
  })

  it('that is a named pipe is refused, and nobody waits for a writer', async () => {
    const path = join(folder, 'belfry.yaml')
    execFileSync('mkfifo', [path])
    await expect(readConfigFile(path)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('is a named pipe'),
    })
  })

  it('that the shell hands over is read to its end', async () => {
    const handle = openSync(written('source: ops\n'), 'r')
    expect((await readConfigFile(`/dev/fd/${handle}`)).document).toEqual({ source: 'ops' })
    closeSync(handle)
  })

  it('that is no text, or has a megabyte, is refused', async () => {
    await expect(readConfigFile(written(Buffer.from([0xff, 0xfe, 0x00])))).rejects.toThrow('is not UTF-8')
    await expect(readConfigFile(written('#'.repeat(1024 * 1024 + 1)))).rejects.toThrow('has more than 1048576 bytes')
  })
})
