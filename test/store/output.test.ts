import { expect, test } from 'vitest'
import type { LeaseName } from '../../src/store/port.ts'
import { readOutput } from '../../src/store/reads/read-output.ts'
import { appendOutput, outputBytesMax } from '../../src/store/runs/append-output.ts'
import { numberOf, onEachDatabase, type Scene } from './scene.ts'

const half = outputBytesMax / 2
const append = (scene: Scene, lease: LeaseName, chunk: string) =>
  scene.write((context) => appendOutput(context, lease, chunk))
const shown = (scene: Scene, id: string, fence?: number) => scene.read((context) => readOutput(context, id, fence))

async function begin(scene: Scene) {
  const id = await scene.enqueue()
  return { id, held: await scene.leaseOf(id) }
}

const mark = /\n\[… \d+ bytes were dropped here …\]\n/

/** What was kept on both sides of the mark. */
function sides(text: string): [string, string] {
  const [head, tail, ...more] = text.split(mark)
  expect(more).toEqual([])
  return [head ?? '', tail ?? '']
}

onEachDatabase('output', (scene) => {
  test('what a run writes piece by piece is read as one text', async () => {
    const { id, held } = await begin(scene())
    expect(await shown(scene(), id)).toBeNull()
    for (const word of ['one ', 'two ', '', 'three']) expect(await append(scene(), held, word)).toBe('written')
    expect(await shown(scene(), id)).toEqual({ fence: 1, text: 'one two three', droppedBytes: 0 })
  })

  test('a holder whose lease was taken back writes nothing any more', async () => {
    const { id, held } = await begin(scene())
    await append(scene(), held, 'mine')
    scene().clock.now += 600_000
    await scene().reclaim()
    expect(await append(scene(), held, 'late')).toBe('lease-lost')
    scene().clock.now += 600_000
    const again = await scene().leaseOf(id)
    expect(again.fence).toBe(2)
    expect(await append(scene(), held, 'later')).toBe('lease-lost')
    await append(scene(), again, 'second')
    expect(await shown(scene(), id)).toMatchObject({ fence: 2, text: 'second' })
    expect(await shown(scene(), id, 1)).toMatchObject({ fence: 1, text: 'mine' })
  })

  test('a run that has ended takes no output', async () => {
    const { held } = await begin(scene())
    await scene().end(held)
    expect(await append(scene(), held, 'x')).toBe('lease-lost')
  })

  test('many small writes make few rows', async () => {
    const { id, held } = await begin(scene())
    for (let line = 0; line < 200; line++) await append(scene(), held, `line ${line}\n`)
    expect((await shown(scene(), id))?.text).toBe(Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join(''))
    expect(await scene().sql('select count(*) as rows from belfry.output where run_id = $1', numberOf(id))).toEqual([
      { rows: 1 },
    ])
  })

  test('of too much the first and the last half are kept, and the bytes between them are counted and marked', async () => {
    const { id, held } = await begin(scene())
    const all = Array.from({ length: 40 }, (_, index) => String.fromCharCode(48 + index).repeat(50_000)).join('')
    for (let from = 0; from < all.length; from += 50_000) await append(scene(), held, all.slice(from, from + 50_000))
    const view = await shown(scene(), id)
    const [head, tail] = sides(view?.text ?? '')
    expect(head).toBe(all.slice(0, half))
    expect(all.endsWith(tail)).toBe(true)
    expect(tail.length).toBeGreaterThan(half - 20_000)
    expect(tail.length).toBeLessThanOrEqual(half)
    expect(view?.droppedBytes).toBe(all.length - head.length - tail.length)
    expect(view?.text).toContain(`[… ${view?.droppedBytes} bytes were dropped here …]`)
  })

  test('one write that is longer than everything that is kept leaves its two ends', async () => {
    const { id, held } = await begin(scene())
    await append(scene(), held, 'first ')
    const long = Array.from({ length: 300_000 }, (_, index) => String(index).padStart(9, ' ')).join('')
    await append(scene(), held, long)
    await append(scene(), held, ' last')
    const view = await shown(scene(), id)
    const [head, tail] = sides(view?.text ?? '')
    const all = `first ${long} last`
    expect(all.startsWith(head)).toBe(true)
    expect(head).toHaveLength(half)
    expect(all.endsWith(tail)).toBe(true)
    expect(view?.droppedBytes).toBe(all.length - head.length - tail.length)
  })

  test('a character of several bytes is never cut in two, wherever rows and halves end', async () => {
    const { id, held } = await begin(scene())
    for (const [index, chunk] of ['a', '🔔'.repeat(100_000), 'é', '€'.repeat(30_001), '🔔'.repeat(200_000)].entries()) {
      expect(await append(scene(), held, chunk), String(index)).toBe('written')
    }
    const view = await shown(scene(), id)
    expect(view?.text).not.toContain('\ufffd')
    const [head, tail] = sides(view?.text ?? '')
    expect(head.slice(0, 3)).toBe('a🔔')
    expect(Buffer.byteLength(head)).toBeGreaterThan(half - 4)
    expect(tail).toMatch(/^(🔔)+$/u)
    const written = 1 + 400_000 + 2 + 90_003 + 800_000
    expect(view?.droppedBytes).toBe(written - Buffer.byteLength(head) - Buffer.byteLength(tail))
  })

  test('a NUL, which no database keeps, is shown as a mark', async () => {
    const { id, held } = await begin(scene())
    await append(scene(), held, 'a\0b')
    expect((await shown(scene(), id))?.text).toBe('a\u2400b')
  })

  test('writes of one attempt at the same moment are all kept', async () => {
    const { id, held } = await begin(scene())
    await Promise.all(Array.from({ length: 10 }, (_, index) => append(scene(), held, `<${index}>`)))
    expect((await shown(scene(), id))?.text.match(/<\d>/g)?.toSorted()).toEqual(
      Array.from({ length: 10 }, (_, index) => `<${index}>`),
    )
  })
})
