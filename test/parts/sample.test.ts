import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseId } from '../../src/core/id.ts'
import { openApi } from '../../src/doors/http/openapi.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
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

  it('may add a verb to a noun of the kernel, beside those that it has', async () => {
    const { nouns, operations } = await import('../../src/table.ts')
    expect(Object.keys(nouns.queue.operations)).toEqual(expect.arrayContaining(['set', 'noteAll']))
    expect(nouns.queue.plural).toBe('queues')
    expect(operations.filter(({ verb }) => verb === 'noteAll')).toHaveLength(1)
  })

  it('is at the HTTP door, in OpenAPI, and has a route of its own', async () => {
    const { HttpDoor } = await import('../../src/doors/http/http-door.ts')
    const door = new HttpDoor({ context: desk.context, events: desk.events, version: '1' })
    const answer = await door.fetch(new Request('http://127.0.0.1/sample'))
    expect([answer.status, await answer.text()]).toEqual([200, 'a route of the sample'])
    const { paths } = openApi('1') as { readonly paths: object }
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/notes', '/api/notes/write', '/sample']))
    door.close()
  })

  it('may know tokens of its own, whose callers reach only verbs that are open to runs; every refusal is audited', async () => {
    const { HttpDoor } = await import('../../src/doors/http/http-door.ts')
    const { listAudit } = await import('../store/list-audit.ts')
    const { Desk } = await import('../operations/desk.ts')
    const own = await Desk.open()
    const door = new HttpDoor({ context: own.context, events: own.events, version: '1' })
    const asked = async (path: string, last: string, body?: object) => {
      const headers = { authorization: `Bearer belfry_note_${last}`, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return (await door.fetch(new Request(`http://127.0.0.1${path}`, { headers, ...sent }))).status
    }
    expect(await asked('/api/notes/write', '0', { text: 'bound' })).toBe(200)
    expect(await asked('/api/notes', '0')).toBe(403)
    expect(await asked('/metrics', '0')).toBe(403)
    expect(await asked('/api/notes/write', '0', { text: 1 })).toBe(400)
    expect(await asked('/api/notes/write', '1', { text: 'torn' })).toBe(401)
    door.close()
    expect(await own.store.look(listAudit, 'queue default')).toMatchObject([
      { actor: 'a note', caller: 'agent', verb: 'note.write', detail: { refused: 'invalid' } },
      { actor: 'a note', caller: 'agent', verb: 'note.list', detail: { refused: 'not-allowed' } },
    ])
    await own.store.close()
  })

  it('is at the command line, with what it shows and the words that others have for it', async () => {
    const { shown } = await import('../doors/cli/shown.ts')
    const { noteOperations } = await import('./sample-part.ts')
    const { commandMeant } = await import('../../src/doors/cli/parse/synonyms.ts')
    expect(await shown(noteOperations.list, [{ id: 1, text: 'a' }])).toBe('NUMBER  SAYS\n1       a')
    expect(commandMeant('memo', 'belfry')).toBe('note')
    expect(commandMeant('ls', 'belfry note')).toBe('list')
  })

  it('has a command that is no verb, and does something beside a worker, by a method that it gives the library', async () => {
    const { Terminal } = await import('../doors/cli/terminal.ts')
    const terminal = new Terminal()
    expect(await terminal.belfry('jot milk --loud')).toMatchObject({ exit: 0, stdout: 'MILK' })
    expect((await terminal.belfry('--help')).stdout).toMatch(/jot +Writes a note of its file/)
    const { stdout } = await terminal.belfry('up --once --notes 0')
    expect(stdout).toContain('There are 0 notes.')
    terminal.remove()
  })

  it('adds a section to config files, applied with the rest or not at all, and shown to who trusts the file', async () => {
    const { verbsAt, problemsIn } = await import('../operations/desk.ts')
    const { config } = verbsAt(() => desk.context)
    const file = (memos: Record<string, unknown>) => ({ source: 'memos', memos, queues: { memo: {} } })
    expect(await problemsIn(config.apply(file({ a: {}, '': { text: '' } })))).toMatchObject([
      { field: 'memos.a.text', problem: 'is missing' },
      { field: 'memos', problem: expect.stringContaining('has a name') },
    ])
    const first = await config.apply(file({ a: { text: 'one' }, b: { text: 'two' }, c: { text: 'three' } }))
    expect([first.answer, first.memos?.map(({ answer }) => answer)]).toEqual(['applied', Array(3).fill('created')])
    const second = await config.apply(file({ a: { text: 'other' }, b: { text: 'two' } }))
    expect(second.memos).toMatchObject([
      { name: 'a', answer: 'updated', changes: [{ field: 'text', before: 'one', after: 'other' }] },
      { name: 'b', answer: 'unchanged' },
      { name: 'c', answer: 'deleted' },
    ])
    expect(second.notes).toEqual(['Forgotten: three'])
    await expect(config.apply(file({}))).rejects.toThrow('It would delete 2 of the 2 memos that source memos created')
    const { programsOf } = await import('../../src/parts/config/programs.ts')
    const starting = { memos: { a: { text: 'x', program: 'sh' } } }
    expect(programsOf(starting, desk.context).programs).toEqual([{ where: 'memos.a', what: 'sh', with: {} }])
  })

  it('is among the tools of a model, as a set of its own and in the sets that its verbs name', async () => {
    const { toolSets } = await import('../../src/doors/mcp/tool-sets.ts')
    expect(toolSets.note).toEqual(['jot', 'note_list'])
    expect(toolSets.pencil).toEqual(['jot'])
  })

  it('says where the runs come from that it makes', async () => {
    const { verbsAt } = await import('../operations/desk.ts')
    const { makeRun } = await import('./sample-part.ts')
    const id = await desk.store.do(makeRun)
    const told = await verbsAt(() => desk.context).runs.explain(id)
    expect(told.planned.sentence).toBe('A note asked for it.')
    expect(told.timeline[0]).toMatchObject({ what: 'enqueued', detail: 'by a note' })
  })

  it('sees the end of every attempt, before and after its schedule moves', async () => {
    const { makeRun, listEnds } = await import('./sample-part.ts')
    await desk.work()
    const before = await desk.store.look(listEnds)
    const id = await desk.store.do(makeRun)
    await desk.work()
    const end = { run_id: parseId('run', id), fence: 1 }
    expect((await desk.store.look(listEnds)).slice(before.length)).toEqual([
      { ...end, hook: 'ending' },
      { ...end, hook: 'ended' },
    ])
  })

  it('is looked at by doctor, has a duty that one worker does, and is called before a worker leases', async () => {
    const { verbsAt } = await import('../operations/desk.ts')
    const diagnosis = async () => (await verbsAt(() => desk.context).store.doctor()).checks.at(-1)
    expect(await diagnosis()).toMatchObject({ check: 'notes', state: 'ok', says: 'There are 1 notes.' })
    const { Belfry } = await import('../../src/index.ts')
    const clock = new TestClock(desk.clock.now())
    const belfry = await Belfry.open({ store: 'memory:', clock, log: false })
    await belfry.start()
    const { notes } = belfry as unknown as { notes: { list(): Promise<unknown[]> } }
    await expect.poll(() => notes.list()).toEqual([{ id: 1, text: 'by a duty' }])
    const { found } = await import('./sample-part.ts')
    expect(found).toEqual([])
    await belfry.stop()
    await belfry.start()
    expect(found).toEqual([{ id: 1, text: 'by a duty' }])
    await belfry.close()
  })

  it('hears what other parts raise, in the transaction in which it happens', async () => {
    const { raise } = await import('../../src/store/raise.ts')
    const { heard } = await import('./sample-part.ts')
    await desk.store.do(raise, [{ event: 'stop', reason: 'raised' }])
    expect(heard).toEqual(['raised'])
  })

  it('is asked before a run starts', async () => {
    const { Belfry } = await import('../../src/index.ts')
    const belfry = await Belfry.open({ store: 'memory:', log: false })
    belfry.handle('h', () => 'done')
    await belfry.start()
    const ended = async (payload: string) => {
      const { id } = await belfry.runs.enqueue({ target: { handler: 'h' }, payload })
      return belfry.runs.wait(id)
    }
    expect(await ended('now')).toMatchObject({ status: 'completed' })
    expect(await ended('and then?')).toMatchObject({ status: 'completed' })
    expect(await ended('not today')).toMatchObject({ status: 'skipped', end: { reason: 'a note says no' } })
    await belfry.close()
  })

  it('has a reason of its own for holds, which explain names with the command that ends it', async () => {
    const { verbsAt } = await import('../operations/desk.ts')
    const { holdByNote } = await import('./sample-part.ts')
    const { runs, queues } = verbsAt(() => desk.context)
    await queues.set('quiet', { maxConcurrent: 1 })
    await desk.store.do(holdByNote, 'quiet')
    const { id } = await runs.enqueue({ queue: 'quiet', target: { handler: 'note' } })
    const explained = await runs.explain(id)
    expect(explained).toMatchObject({ code: 'held-by', sentence: 'A note on the door of quiet says no.' })
    expect(explained.unblock).toContainEqual(expect.objectContaining({ what: 'Read the note.' }))
    expect(explained.unblock[0]?.command).toMatch(/note list$/)
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

  describe('adds fields to schedules, queues and runs that', () => {
    const verbs = async () => (await import('../operations/desk.ts')).verbsAt(() => desk.context)

    it('are given and answered with their noun, changed and taken away, and said in its words', async () => {
      const { schedules } = await verbs()
      const input = { name: 'moody', every: '1h', mood: ' glad ', colour: 'red', target: { handler: 'note' } } as const
      const { schedule, inWords } = await schedules.create(input)
      expect(schedule).toMatchObject({ mood: 'glad', colour: 'red' })
      expect(inWords).toContain('Mood of the mood glad, colour "red".')
      const changed = await schedules.update('moody', { mood: 'calm', priority: 7 })
      expect(changed).toMatchObject({ changed: expect.arrayContaining(['mood']), was: { mood: 'glad' } })
      expect(changed.schedule).toMatchObject({ mood: 'calm', colour: 'red', priority: 7 })
      expect((await schedules.update('moody', { mood: null })).schedule.mood).toBeUndefined()
      await schedules.update('moody', { mood: 'calm' })
    })

    it('are judged by their schemas and by the part, beside everything else that is wrong', async () => {
      const { problemsIn } = await import('../operations/desk.ts')
      const refusedFields = async (asked: Promise<unknown>) =>
        (await problemsIn(asked)).map(({ field }) => field).sort()
      const { schedules, runs, queues } = await verbs()
      expect(await refusedFields(schedules.create('lonely', { mood: 'lonely' }))).toEqual(['mood'])
      const bad = { name: 'bad', every: '1ms', mood: 'angry', colour: 'green' } as never
      expect(await refusedFields(schedules.create(bad))).toEqual(['colour', 'every', 'mood'])
      expect(await refusedFields(runs.enqueue({ target: null, colour: 'green', hue: 1 } as never))).toEqual([
        'colour',
        'hue',
      ])
      expect(await refusedFields(runs.enqueueMany([{ target: null, colour: 7 } as never]))).toEqual(['runs[0].colour'])
      expect(await refusedFields(queues.set('moody', { room: 10 }))).toEqual(['room'])
    })

    it('are stored under their own names, where the verbs of the part read them, and handed on to runs', async () => {
      const { moods, listEnds } = await import('./sample-part.ts')
      const { schedules, runs, queues } = await verbs()
      expect(await desk.store.look(moods)).toEqual(['calm'])
      const { id } = await schedules.run('moody')
      expect((await runs.get(id)).colour).toBe('red')
      const own = await runs.enqueue({ target: { handler: 'note' }, colour: 'blue' })
      expect((await runs.get(own.id)).colour).toBe('blue')
      const leases = await desk.lease()
      expect(leases.map(({ runId, options }) => [runId, options.colour])).toEqual(
        expect.arrayContaining([
          [id, 'red'],
          [own.id, 'blue'],
        ]),
      )
      expect((await queues.set('moody', { room: 3 })).queue.policy).toMatchObject({ room: 3 })
      expect((await queues.set('moody', { maxConcurrent: 2 })).queue.policy).toMatchObject({ room: 3 })
      expect((await queues.set('moody', { room: null })).queue.policy?.room).toBeUndefined()
      const written = { run_id: 0, fence: 3, hook: 'written' }
      expect((await desk.store.look(listEnds)).slice(0, 2)).toEqual([written, written])
    })

    it('are in files, in OpenAPI, and flags of the command line', async () => {
      const { config, schedules } = await verbs()
      const file = {
        source: 'sample',
        queues: { kept: { room: 4 } },
        schedules: { kept: { every: '1h', mood: 'glad' } },
      }
      await config.apply(file)
      expect((await schedules.get('kept')).mood).toBe('glad')
      const wrong = { ...file, schedules: { kept: { every: '1h', mod: 'glad' } } }
      await expect(config.apply(wrong)).rejects.toThrow('mood, if that was meant')
      const { components } = openApi('1') as { readonly components: { readonly schemas: Record<string, unknown> } }
      expect(components.schemas.Schedule).toMatchObject({ properties: { mood: { description: 'How it feels.' } } })
      expect(components.schemas.Policy).toMatchObject({ properties: { room: { type: 'integer' } } })
      const { Terminal } = await import('../doors/cli/terminal.ts')
      const terminal = new Terminal()
      await terminal.belfry('schedule create felt --every 1h --mood glad --handler note')
      expect((await terminal.belfry('schedule show felt')).stdout).toContain('Mood of the mood glad')
      terminal.remove()
    })
  })
})
