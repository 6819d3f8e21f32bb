import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../src/index.ts'
import { scratchFolder } from '../../scratch.ts'

const program = fileURLToPath(new URL('restore-process.mjs', import.meta.url))
const fresh = { architect: 'fresh', builder: 'fresh', critic: 'fresh' }
const now = { _id: 'a', _builder: 'brief', _content: 'now, by hand', _feedback: 'ok', _phaseState: fresh, owner: 'me' }
const snapshot = '2026-01-01T00-00-00-000Z'
const timeout = 300_000

/** The documents and snapshots of a corpus below a root, as they are on the disk. */
function treeAt(root: string) {
  const archiveOf = (path: string) => join(root, path, '.meta/archive')
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  return {
    write(path: string) {
      mkdirSync(archiveOf(path), { recursive: true })
      writeFileSync(join(root, path, '.meta/meta.json'), JSON.stringify(now))
      for (const [name, text] of [
        [snapshot, 'from the snapshot'],
        ['2026-01-02T00-00-00-000Z', 'between'],
      ]) {
        writeFileSync(
          join(archiveOf(path), `${name}.json`),
          JSON.stringify({ ...now, _content: text, _archived: true }),
        )
      }
    },
    contentOf: (path: string) => read(join(root, path, '.meta/meta.json'))._content,
    copiesOf: (path: string) => readdirSync(archiveOf(path)).map((name) => read(join(archiveOf(path), name))._content),
    leftIn: (path: string) => readdirSync(join(root, path, '.meta')).filter((name) => name.endsWith('.tmp')),
  }
}

/** Restores an item in another process, which is killed at the given point. Without a point it returns the number of points. */
function restoreIn(store: string, path: string, point?: number): number | null {
  const given = JSON.stringify({ store, name: 'c', path, snapshot, point })
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program, given], { encoding: 'utf8' })
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(stderr)
  return status === 0 ? Number(stdout) : null
}

it('a restore that is killed at any point leaves the old text or the restored one, whole, and loses neither', {
  timeout,
}, async () => {
  const folder = mkdtempSync(join(scratchFolder(), 'restore-'))
  const [store, root] = [`sqlite:${join(folder, 'belfry.db')}`, join(folder, 'notes')]
  mkdirSync(root)
  const belfry = await Belfry.open({ store, log: false })
  onTestFinished(async () => {
    await belfry.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await belfry.corpora.create({ name: 'c', root, target: { handler: 'write' }, maxArchive: 2 })
  const { write, contentOf, copiesOf, leftIn } = treeAt(root)
  write('i0')
  await belfry.corpora.scan('c')
  const points = restoreIn(store, 'i0') ?? 0
  // The restored snapshot is not pruned before the next snapshot is kept.
  const all = ['between', 'from the snapshot', 'now, by hand']
  expect([points > 20, contentOf('i0'), copiesOf('i0').sort()]).toEqual([true, 'from the snapshot', all])
  const states = new Set<unknown>()
  // Each disk call has a point before it and one after it; the test kills at one of the two.
  for (let point = 1; point <= points; point += 3) {
    const path = `i${point}`
    write(path)
    await belfry.corpora.scan('c')
    expect(restoreIn(store, path, point)).toBe(null)
    states.add(contentOf(path))
    expect([point, contentOf(path), ...copiesOf(path)]).toEqual(
      expect.arrayContaining(['now, by hand', 'from the snapshot']),
    )
    const { document, item } = await belfry.corpora.restore({ name: 'c', path, snapshot })
    expect(document).toMatchObject({ _content: 'from the snapshot', owner: 'me' })
    expect([point, contentOf(path), copiesOf(path).sort(), leftIn(path)]).toEqual([point, 'from the snapshot', all, []])
    expect(item).toMatchObject({ phase: 'critic', status: 'pending' })
  }
  expect(states).toEqual(new Set(['now, by hand', 'from the snapshot']))
})
