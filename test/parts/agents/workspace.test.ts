import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../../targets/command/processes.ts'
import { playAgents, type Scene, type StoreKind } from './scene.ts'

const isGitHere = (() => {
  try {
    return execFileSync('git', ['--version']).length > 0
  } catch {
    return false
  }
})()

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' })
}

/** A checkout with one commit. */
function checkout({ folder }: Scene): string {
  const root = join(folder, 'app')
  mkdirSync(join(root, 'sub'), { recursive: true })
  git(root, 'init', '-q')
  // A setting by which new files do not show must not lose them.
  git(root, 'config', 'status.showUntrackedFiles', 'no')
  writeFileSync(join(root, 'sub', 'a.txt'), 'first\n')
  git(root, 'add', '.')
  git(root, 'commit', '-qm', 'first')
  return root
}

const worktrees = ({ folder }: Scene) => {
  const place = join(folder, 'worktrees')
  return existsSync(place) ? readdirSync(place).filter((name) => name !== '.gitignore') : []
}

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s agents in one checkout', (kind: StoreKind) => {
  it('exclude each other, whatever queues they come from, and the second starts when the first has ended', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    const cwd = join(scene.folder, 'app')
    mkdirSync(cwd)
    symlinkSync(cwd, join(scene.folder, 'link'))
    await belfry.start()
    const first = await belfry.runs.enqueue({ target: { ...scene.target('claude', 'slow'), cwd } })
    await until(() => scene.starts().length === 1, 'the first agent has started')
    const target = { ...scene.target('claude'), cwd: join(scene.folder, 'link') }
    const second = await belfry.runs.enqueue({ target, queue: 'other' })
    await expect.poll(async () => (await belfry.holds.list({})).length).toBe(1)
    expect(await belfry.holds.list({})).toMatchObject([{ on: `key:${cwd}`, reason: 'checkout-full', note: first.id }])
    await expect
      .poll(async () => JSON.stringify(await belfry.runs.explain(second.id)))
      .toMatch(new RegExp(`Run ${first.id} works in`))
    expect(scene.starts()).toHaveLength(1)
    await belfry.runs.cancel(first.id)
    expect(await belfry.runs.wait(second.id)).toMatchObject({ end: { status: 'completed' }, attempts: 0 })
    expect(await belfry.holds.list({})).toEqual([])
  })

  it('and a worker that is stopped leaves it free', async () => {
    const scene = await playAgents({}, kind)
    const { belfry } = scene
    await belfry.start()
    const target = { ...scene.target('claude', 'slow | fixture:success'), cwd: scene.folder }
    const { id } = await belfry.runs.enqueue({ target })
    await until(() => scene.starts().length === 1, 'the agent has started')
    await belfry.stop({ graceMs: 0 })
    await belfry.start()
    expect(await belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' } })
  })
})

describe('the key of a checkout', () => {
  it('is its real path; a key of the caller’s own stays, and a worktree needs none', async () => {
    const scene = await playAgents()
    const { belfry, folder } = scene
    symlinkSync(folder, join(folder, 'link'))
    const of = async (cwd: string | undefined, more: object = {}, agent: object = {}) => {
      const { id } = await belfry.runs.enqueue({
        target: { ...scene.target('claude', '', agent), cwd },
        ...more,
      } as never)
      return (await belfry.runs.get(id)).concurrencyKey
    }
    expect(await of(undefined)).toBeNull()
    expect(await of(join(folder, 'link'))).toBe(folder)
    expect(await of('/of/another/machine')).toBe('/of/another/machine')
    expect(await of(folder, { concurrencyKey: 'mine' })).toBe('mine')
    expect(await of(folder, {}, { workspace: 'worktree' })).toBeNull()
  })

  it('of a schedule follows its folder when that changes', async () => {
    const { belfry, folder, target } = await playAgents()
    const keyNow = async () => (await belfry.schedules.get('triage')).concurrencyKey
    await belfry.schedules.create({ name: 'triage', every: '1h', target: { ...target('claude'), cwd: folder } })
    expect(await keyNow()).toBe(folder)
    await belfry.schedules.update('triage', { every: '2h' })
    expect(await keyNow()).toBe(folder)
    await belfry.schedules.update('triage', { target: { ...target('claude'), cwd: '/srv/other' } })
    expect(await keyNow()).toBe('/srv/other')
    await belfry.schedules.update('triage', { concurrencyKey: 'mine', target: { ...target('claude'), cwd: folder } })
    await belfry.schedules.update('triage', { target: { ...target('claude'), cwd: '/srv/other' } })
    expect(await keyNow()).toBe('mine')
    await belfry.schedules.update('triage', { concurrencyKey: null, target: target('claude') })
    expect(await keyNow()).toBeUndefined()
  })
})

// A worktree needs git: without git there is nothing to test.
describe.runIf(isGitHere)('a worktree', () => {
  const played = async (scene: Scene, behaviour: string, agent: object = {}, cwd?: string) => {
    const { belfry } = scene
    await belfry.queues.set('default', { maxAttempts: 1, onExhausted: 'fail' })
    const target = { ...scene.target('claude', behaviour, { workspace: 'worktree', ...agent }), cwd }
    const { id } = await belfry.runs.enqueue({ target } as never)
    await belfry.start()
    return belfry.runs.wait(id)
  }

  it('is made of a commit, worked in, kept with its changes, listed and pruned; the checkout is untouched', async () => {
    const scene = await playAgents()
    const root = checkout(scene)
    const { id, end } = await played(scene, 'edit:a.txt', {}, join(root, 'sub'))
    expect(end).toMatchObject({ status: 'completed' })
    const path = join(scene.folder, 'worktrees', id)
    expect(scene.starts()[0]?.cwd).toBe(join(path, 'sub'))
    expect(readFileSync(join(path, 'sub', 'a.txt'), 'utf8')).toBe('first\nedit:a.txt\n')
    expect(git(root, 'status', '--porcelain', '--untracked-files=all')).toBe('')
    expect(git(path, 'branch', '--show-current')).toBe('')
    const { workspaces } = scene.belfry
    const line = {
      run: id,
      path,
      checkout: root,
      state: 'left',
      changed: true,
      base: git(root, 'rev-parse', 'HEAD').trim(),
    }
    expect(await workspaces.list({})).toMatchObject([line])
    expect(await scene.belfry.runs.get(id)).toMatchObject({ attempt: { agent: { worktree: path } } })
    expect(await workspaces.prune({})).toEqual([])
    expect(await workspaces.prune({ changed: true })).toMatchObject([line])
    expect(existsSync(path)).toBe(false)
    expect(git(root, 'worktree', 'list').trim().split('\n')).toHaveLength(1)
    expect(await workspaces.list({})).toEqual([])
  })

  it('without changes is removed, and kept after a failure or where the target says so', async () => {
    const scene = await playAgents()
    const root = checkout(scene)
    await played(scene, '', {}, root)
    expect(worktrees(scene)).toEqual([])
    const failed = await played(scene, 'fixture:api-error', {}, root)
    const always = await played(scene, '', { keep: 'always' }, root)
    const added = await played(scene, 'edit:new.txt', {}, root)
    expect(worktrees(scene).sort()).toEqual([failed.id, always.id, added.id].sort())
    await played(scene, 'edit:a.txt', { keep: 'never' }, root)
    expect(worktrees(scene)).toHaveLength(3)
    expect(await scene.belfry.workspaces.prune({})).toHaveLength(2)
    expect(worktrees(scene)).toEqual([added.id])
  })

  it('begins with the commit that the target names', async () => {
    const scene = await playAgents()
    const root = checkout(scene)
    const ref = git(root, 'rev-parse', 'HEAD').trim()
    git(root, 'commit', '-q', '--allow-empty', '-m', 'second')
    await played(scene, '', { ref, keep: 'always' }, root)
    expect(await scene.belfry.workspaces.list({})).toMatchObject([{ base: ref, changed: false }])
    const { end } = await played(scene, '', { ref: 'nowhere' }, root)
    expect(end?.reason).toMatch(/There is no commit "nowhere"/)
  })

  it('of a folder that does not exist, or that is in no checkout, fails the start and makes nothing', async () => {
    const scene = await playAgents()
    const absent = join(scene.folder, 'absent')
    expect((await played(scene, '', {}, absent)).end?.reason).toMatch(/absent does not exist/)
    expect(existsSync(absent)).toBe(false)
    const bare = { ...scene.target('claude'), cwd: absent }
    const { id } = await scene.belfry.runs.enqueue({ target: bare })
    expect((await scene.belfry.runs.wait(id)).end?.reason).toMatch(/absent does not exist/)
    mkdirSync(absent)
    expect((await played(scene, '', {}, '/')).end?.reason).toMatch(/is in no git checkout/)
    expect(scene.starts()).toEqual([])
    expect(await scene.belfry.workspaces.list({})).toEqual([])
  })

  it('is prepared by one command before the agent; when that fails the agent does not start', async () => {
    const scene = await playAgents()
    const root = checkout(scene)
    const { id } = await played(
      scene,
      '',
      { setup: 'echo "made in $(basename $PWD)" | tee made.txt', keep: 'always' },
      root,
    )
    expect((await scene.belfry.runs.output(id))?.text).toMatch(new RegExp(`^made in ${id}\n`))
    const { end } = await played(scene, '', { setup: ['sh', '-c', 'exit 3'] }, root)
    expect(end?.reason).toMatch(/The set-up of the workspace ended with exit code 3/)
    expect(scene.starts()).toHaveLength(1)
  })

  const interrupted = async (scene: Scene, meanwhile: () => void = () => undefined) => {
    const { belfry } = scene
    const root = checkout(scene)
    await belfry.start()
    const agent = { workspace: 'worktree', keep: 'never' }
    const target = { ...scene.target('claude', 'edit:a.txt slow | fixture:success', agent), cwd: join(root, 'sub') }
    const { id } = await belfry.runs.enqueue({ target } as never)
    await until(() => scene.starts().length === 1, 'the agent has started')
    await expect.poll(async () => (await belfry.runs.get(id)).attempt?.agent?.sessionId).toBeDefined()
    await belfry.stop({ graceMs: 0 })
    meanwhile()
    await belfry.start()
    expect(await belfry.runs.wait(id)).toMatchObject({ end: { status: 'completed' } })
    const [first, second] = scene.starts()
    return { id, first, second }
  }

  it('of an interrupted session is where the next attempt goes on', async () => {
    const scene = await playAgents()
    const { first, second } = await interrupted(scene)
    expect(second?.args).toContain('--resume')
    expect(second?.cwd).toBe(first?.cwd)
    expect(worktrees(scene)).toEqual([])
  })

  it('that is gone means a fresh start in a new one, and the output says so', async () => {
    const scene = await playAgents()
    const { id, first, second } = await interrupted(scene, () => {
      rmSync(join(scene.folder, 'worktrees'), { recursive: true })
    })
    expect(second?.args).not.toContain('--resume')
    expect(second?.cwd).toBe(first?.cwd.replace(id, `${id}-2`))
    expect((await scene.belfry.runs.output(id))?.text).toMatch(/worktree of its session is not on this machine/)
  })

  it.each([
    [{ workspace: 'elsewhere' }, /agent.workspace is the string elsewhere/],
    [{ keep: 'changed' }, /agent.keep is given without a worktree/],
    [{ ref: '-x', workspace: 'worktree' }, /agent.ref has a form that programs misread/],
    [{ workspace: 'worktree', keep: 'sometimes' }, /agent.keep is the string sometimes/],
    [{ setup: [] }, /agent.setup/],
    [{ workspace: 'worktree' }, /cwd is missing/],
  ])('with %j is refused', async (agent, says) => {
    const { belfry, folder, target } = await playAgents()
    const cwd =
      'workspace' in agent && Object.keys(agent).length === 1 && agent.workspace === 'worktree' ? {} : { cwd: folder }
    await expect(belfry.runs.enqueue({ target: { ...target('claude', '', agent), ...cwd } } as never)).rejects.toThrow(
      says,
    )
  })
})
