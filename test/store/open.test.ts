import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { refusalOf } from './refusal.ts'

const here = process.cwd()
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-open-'))
  process.chdir(folder)
})

afterAll(() => {
  process.chdir(here)
  rmSync(folder, { recursive: true, force: true })
})

describe('the URL of a store', () => {
  it.each([
    ['', '""'],
    ['sqlite:', '"sqlite:"'],
    ['./belfry.db', '"./belfry.db"'],
    ['memory', '"memory"'],
    ['memory:x', '"memory:…"'],
    ['mysql://host/x', '"mysql:…"'],
    ['postgres:host/x', '"postgres:…"'],
    ['sqlite://belfry.db', '"sqlite://belfry.db"'],
  ])('%j names none, and nothing is created', async (url, shown) => {
    expect(await refusalOf(openStore(url))).toMatchObject({
      code: 'invalid',
      message: `${shown} does not name a store.`,
      hint: 'Write sqlite:./.belfry/belfry.db, memory:, or postgres://user:password@host:5432/database.',
    })
    expect(existsSync('belfry.db')).toBe(false)
  })

  it.each(['postgres://host:port/x', 'postgresql://user:pass#word@host/x'])('%j cannot be read', async (url) => {
    expect(await refusalOf(openStore(url))).toMatchObject({
      code: 'invalid',
      message: 'The PostgreSQL URL cannot be read.',
      hint: expect.stringMatching(/^It looks like postgres:\/\/user:password@host:5432\/database; write #.* as %23/),
    })
  })

  it('may be a path from here, or a whole one after one slash or three', async () => {
    for (const url of ['sqlite:a.db', `sqlite:${folder}/b.db`, `sqlite://${folder}/c.db`]) {
      await (await openStore(url)).close()
    }
    expect(['a.db', 'b.db', 'c.db'].map((name) => existsSync(join(folder, name)))).toEqual([true, true, true])
  })
})

describe('a setting that makes no sense is refused before anything is opened', () => {
  it.each([
    [{ namespace: '' }, 'namespace is empty; it must be a text of 1 to 200 characters.'],
    [{ namespace: 'a\0' }, 'namespace has a NUL character at position 1; it must be a text without it.'],
    ...['x'.repeat(64), "it's", 'a b', '', '1st', 'a.b'].map((schema): [object, string] => [
      { schema },
      `schema is ${JSON.stringify(schema)}; it must be a letter or underscore, then at most 62 letters, digits and underscores.`,
    ]),
    [{ connectionsMax: 0 }, 'connectionsMax is 0; it must be an integer from 1 to 1000.'],
    [{ defaultMaxConcurrent: 1.5 }, 'defaultMaxConcurrent is 1.5; it must be an integer from 1 to 1000000.'],
  ])('%j', async (options, message) => {
    expect(await refusalOf(openStore('sqlite:settings.db', options))).toMatchObject({ code: 'invalid', message })
    expect(existsSync('settings.db')).toBe(false)
  })
})
