import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../../src/index.ts'
import { lendSchema, returnSchema } from '../../../lent-schema.ts'
import { postgresUrl } from '../../../postgres.ts'
import { scratchFolder } from '../../../scratch.ts'

/** A folder that is removed after the test. */
function ownFolder(): string {
  const folder = mkdtempSync(join(scratchFolder(), 'belfry-inbox-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A smaller version of 200 sessions with 50 messages each. */
const [sessions, each] = [20, 10]

describe.each(['sqlite', 'postgres'] as const)('many sessions at once on %s', (database) => {
  /** One store opened twice, as by two processes. */
  async function twice(): Promise<readonly [Belfry, Belfry]> {
    const schema = lendSchema()
    const place =
      database === 'postgres' ? { store: postgresUrl(), schema } : { store: `sqlite:${ownFolder()}/belfry.db` }
    const open = () => Belfry.open({ ...place, log: false })
    const both = [await open(), await open()] as const
    onTestFinished(async () => {
      for (const one of both) await one.close()
      if (database === 'postgres') await returnSchema(schema)
    })
    return both
  }

  it('get and acknowledge every message exactly once, their own and those of their project', async () => {
    const [one, other] = await twice()
    const project = ownFolder()
    const names = Array.from({ length: sessions }, (_, index) => `s-${index}`)
    for (const [index, session] of names.entries()) {
      for (let count = 0; count < each; count++) {
        const to = count % 5 === 4 ? { project } : { session }
        await one.inbox.send(`${index}/${count}`, to)
      }
    }
    const seen: string[] = []
    const taking = names.map(async (session, index) => {
      const { inbox } = index % 2 === 0 ? one : other
      for (;;) {
        const { message } = await inbox.next({ session, project })
        if (message === null) return
        seen.push(message.prompt)
        expect((await inbox.ack(message.id)).delivered).toBe(true)
      }
    })
    await Promise.all(taking)
    const all = names.flatMap((_, index) => Array.from({ length: each }, (__, count) => `${index}/${count}`))
    expect(seen.sort()).toEqual(all.sort())
    const { messages } = await one.inbox.list({ limit: 1_000 })
    expect(messages).toHaveLength(sessions * each)
    expect(new Set(messages.map(({ status }) => status))).toEqual(new Set(['completed']))
  })

  it('of one project never share a message, and one session never holds two', async () => {
    const [one, other] = await twice()
    const project = ownFolder()
    for (let count = 0; count < 10; count++) await one.inbox.send(`${count}`, { project })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? one : other).inbox.next({ session: `s-${index % 3}`, project }),
      ),
    )
    const taken = answers.flatMap(({ message }) => (message === null ? [] : [message.run]))
    expect(new Set(taken).size).toBe(taken.length)
    expect(taken).toHaveLength(3)
  })
})
