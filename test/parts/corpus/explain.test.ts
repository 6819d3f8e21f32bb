import { describe, expect, it } from 'vitest'
import { CorpusScene, plainly, type StoreKind } from './scene.ts'

describe.each<StoreKind>(['SQLite', 'PostgreSQL'])('an explanation of an item on %s', (kind) => {
  it('names the phase and the input that changed, once however often it changes, and not after it is put back', async () => {
    const scene = await CorpusScene.open({}, { kind })
    const { corpora } = scene.belfry
    await scene.seed('a')
    await scene.settle()
    const changed = async (fields: object) => {
      await corpora.update({ name: 'notes', path: 'a', ...fields })
      const { item, says, changed: found } = await corpora.explain('notes', 'a')
      return [item.phase, says.split('Changed: ')[1], found.map(({ input }) => input)]
    }
    expect(await changed({ steer: 'Short.' })).toEqual(['architect', 'architect: steer.', ['steer']])
    expect(await changed({ steer: 'Shorter.' })).toEqual(['architect', 'architect: steer.', ['steer']])
    scene.write('a/more.md', 'more')
    expect(await changed({ emphasis: 2 })).toEqual([
      'architect',
      'architect: the names of its files; architect: steer; builder: contents of files (1 of 2 differ): a/more.md.',
      ['files', 'steer', 'contents'],
    ])
    expect((await changed({ steer: null }))[2]).toEqual(['files', 'contents'])
  })

  it('names the child that it waits for, and when a soft reason begins to count', async () => {
    const scene = await CorpusScene.open({}, { kind })
    const { corpora } = scene.belfry
    await scene.seed('top', 'top/child')
    await scene.settle()
    scene.write('top/child/README.md', 'another text')
    scene.answer = (handed, run) => (handed.phase === 'builder' ? { _content: 'another' } : plainly(handed, run))
    const says = async () => {
      await corpora.scan('notes')
      return (await corpora.explain('notes', 'top')).says
    }
    await corpora.scan('notes')
    await scene.play('top/child')
    expect(await says()).toBe(
      'It is fresh. Changed: builder: contents of children (1 of 1 differ): top/child (waits for top/child, which is owed).',
    )
    await scene.play('top/child')
    expect(await says()).toMatch(
      /contents of children \(1 of 1 differ\): top\/child \(counts from \d{4}-\d\d-\d\dT[\d:.]+Z\)\.$/,
    )
  })

  it('that failed says which try is next; a torn one is not triggered, and is listed with its own reason', async () => {
    const scene = await CorpusScene.open({}, { kind })
    const { corpora } = scene.belfry
    await scene.seed('a')
    scene.answer = () => 'NO_REPLY'
    await scene.play('a')
    expect((await corpora.explain('notes', 'a')).says).toContain('It is tried again, 2 of 5.')
    await corpora.release({ name: 'notes', path: 'a' })
    for (let attempt = 0; attempt < 5; attempt += 1) await scene.play('a')
    scene.write('a/.meta/meta.json', '{"_id": "x"')
    await expect(corpora.trigger({ name: 'notes', path: 'a' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The document of a is not JSON: it may be torn.',
      hint: expect.stringContaining('belfry corpus repair notes a'),
    })
    expect((await corpora.queue('notes')).overrides).toEqual([])
    const { items } = await corpora.list({ corpus: 'notes', parked: true })
    expect(items).toMatchObject([{ status: 'unreadable', reason: 'is not JSON: it may be torn' }])
  })
})
