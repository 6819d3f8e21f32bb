import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openApi } from '../../src/doors/http/openapi.ts'
import { TestClock } from '../../src/testing/clock.ts'
import type { Desk as DeskType } from '../operations/desk.ts'

vi.mock('../../src/parts.ts', async (importOriginal) => {
  const { parts } = await importOriginal<typeof import('../../src/parts.ts')>()
  const { sample } = await import('./sample-part.ts')
  return { parts: [...parts, sample] }
})

/** One entry in the list of parts, and nothing else is edited for it. */
describe('a part that is added to the list', () => {
  let desk: DeskType

  beforeAll(async () => {
    const { Desk } = await import('../operations/desk.ts')
    desk = await Desk.open()
  })
  afterAll(() => desk.store.close())

  it('has its table, and its verbs in the table of verbs', async () => {
    const { nouns } = await import('../../src/table.ts')
    const { bind } = await import('../../src/operations/bind.ts')
    const { note } = nouns as unknown as { note: { operations: typeof import('./sample-part.ts').noteOperations } }
    const notes = bind(note.operations, () => desk.context)
    expect(await notes.write({ text: 'first' })).toEqual({ id: 1, text: 'first' })
    expect(await notes.list()).toEqual([{ id: 1, text: 'first' }])
  })

  it('is at the HTTP door, in OpenAPI, and has a route of its own', async () => {
    const { HttpDoor } = await import('../../src/doors/http/app.ts')
    const door = new HttpDoor({ context: desk.context, events: desk.events, version: '1' })
    const answer = await door.fetch(new Request('http://127.0.0.1/sample'))
    expect([answer.status, await answer.text()]).toEqual([200, 'a route of the sample'])
    const { paths } = openApi('1') as { readonly paths: object }
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/notes', '/api/notes/write', '/sample']))
    door.close()
  })

  it('is at the command line, with what it shows and the words that others have for it', async () => {
    const { loadShows } = await import('../../src/parts-face.ts')
    const { commandMeant } = await import('../../src/doors/cli/other-words.ts')
    const shows = await loadShows()
    expect(shows['note list']?.([{ id: 1, text: 'a' }] as never, {} as never, {} as never)).toBe('1 a')
    expect(commandMeant('memo', 'belfry')).toBe('note')
    expect(commandMeant('ls', 'belfry note')).toBe('list')
  })

  it('is among the tools of a model, as a set of its own', async () => {
    const { toolSets } = await import('../../src/doors/mcp/tool-sets.ts')
    expect(toolSets.note).toEqual(['note_write', 'note_list'])
  })

  it('says where the runs come from that it makes', async () => {
    const { verbsAt } = await import('../operations/desk.ts')
    const { makeRun } = await import('./sample-part.ts')
    const id = await desk.store.do(makeRun)
    const told = await verbsAt(() => desk.context).runs.explain(id)
    expect(told.planned.sentence).toBe('A note asked for it.')
    expect(told.timeline[0]).toMatchObject({ what: 'enqueued', detail: 'by a note' })
  })

  it('is looked at by doctor, and has a duty that one worker does', async () => {
    const { verbsAt } = await import('../operations/desk.ts')
    const diagnosis = async () => (await verbsAt(() => desk.context).store.doctor()).checks.at(-1)
    expect(await diagnosis()).toMatchObject({ check: 'notes', state: 'ok', says: 'There are 1 notes.' })
    const { Belfry } = await import('../../src/index.ts')
    const clock = new TestClock(desk.clock.now())
    const belfry = await Belfry.open({ store: 'memory:', clock, log: false })
    await belfry.start()
    const { notes } = belfry as unknown as { notes: { list(): Promise<unknown[]> } }
    await expect.poll(() => notes.list()).toEqual([{ id: 1, text: 'by a duty' }])
    await belfry.close()
  })

  it('keeps a queue that it names from being deleted, and is swept by retention', async () => {
    const { verbsAt } = await import('../operations/desk.ts')
    const { queues } = verbsAt(() => desk.context)
    await queues.set('notes', { maxConcurrent: 1 })
    await expect(queues.delete('notes')).rejects.toThrow('note "first" names it')
    expect(desk.clock).toBeInstanceOf(TestClock)
    desk.clock.advance(1_000)
    expect((await desk.store.prune({ limit: 100 })).other).toBe(1)
  })
})
