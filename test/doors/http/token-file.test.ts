import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ensureToken, tokenFileAround, tokenFileIn } from '../../../src/doors/http/token-file.ts'
import { openStore } from '../../../src/open-store.ts'
import { tokenOperations } from '../../../src/operations/token/noun.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { Desk, startAt } from '../../operations/desk.ts'
import { postgresUrl } from '../../postgres.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-token-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function deskOf(url: string, namespace: string, schema?: string): Promise<Desk> {
  const clock = new TestClock(startAt)
  return new Desk(await openStore(url, { clock, namespace, ...(schema !== undefined && { schema }) }), clock)
}

const countOf = async ({ context }: Desk) => (await tokenOperations.list.call(context, {})).length

describe.each(['sqlite', 'postgres'] as const)('two namespaces that work in one folder on %s', (database) => {
  let schema: string | undefined
  let desks: Desk[]
  beforeEach(async () => {
    schema = database === 'postgres' ? lendSchema() : undefined
    const url = schema === undefined ? `sqlite:${join(folder, 'b.db')}` : postgresUrl()
    desks = [await deskOf(url, 'default', schema), await deskOf(url, 'team', schema)]
  })
  afterEach(async () => {
    for (const desk of desks) await desk.store.close()
    if (schema !== undefined) await returnSchema(schema)
  })

  it('do not overwrite the token of each other, and a start leaves no further admin token behind', async () => {
    const [first, second] = desks as [Desk, Desk]
    for (const isNew of [true, false, false]) {
      expect(await ensureToken(first.context, folder)).toEqual({ file: join(folder, 'token'), isNew })
      expect(await ensureToken(second.context, folder)).toEqual({ file: join(folder, 'token.team'), isNew })
    }
    expect([await countOf(first), await countOf(second)]).toEqual([1, 1])
    expect(statSync(join(folder, 'token.team')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('go on with the token that an earlier version wrote to the one file', async () => {
    const [, second] = desks as [Desk, Desk]
    await ensureToken(second.context, folder)
    const token = readFileSync(join(folder, 'token.team'), 'utf8')
    renameSync(join(folder, 'token.team'), join(folder, 'token'))
    expect(await ensureToken(second.context, folder)).toEqual({ file: join(folder, 'token.team'), isNew: false })
    expect(readFileSync(join(folder, 'token.team'), 'utf8')).toBe(token)
    expect(await countOf(second)).toBe(1)
  })
})

describe('the file of a token', () => {
  it('stays in its folder and is another one for each namespace, whatever that is called', () => {
    const names = ['default', 'team', 'Team', '../x', 'a/b', 'a b', '~', 'ü', 'x'.repeat(200)]
    const files = names.map((name) => tokenFileIn('/folder', name))
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length)
    for (const file of files) expect(file).toMatch(/^\/folder\/token(\.[a-z0-9~][a-z0-9_-]{0,99})?$/)
  })

  it('of a caller who knows no namespace is the usual one, or the only one', async () => {
    const desk = await deskOf('memory:', 'team')
    expect(tokenFileAround(folder)).toBe(join(folder, 'token'))
    await ensureToken(desk.context, folder)
    expect(existsSync(join(folder, 'token'))).toBe(false)
    expect(tokenFileAround(folder)).toBe(join(folder, 'token.team'))
    await desk.store.close()
  })
})
