import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { isProvenDead, ownIdentity, type ProcessIdentity } from '../../src/store/workers/process-identity.ts'

const own = ownIdentity()

/** A process that lives until it is ended, as others would record it. */
function startOther(): { child: ReturnType<typeof spawn>; identity: ProcessIdentity } {
  // Its name has blanks and brackets in it, as a program's may.
  const child = spawn(process.execPath, ['-e', `process.title = 'a) b (c'; setInterval(() => {}, 1e6); console.log()`])
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return { child, identity: { ...(own as ProcessIdentity), pid: child.pid ?? 0, startedAt } }
}

// Only Linux tells one boot and one process from another.
describe.runIf(own !== null)('a process', () => {
  const mine = own as ProcessIdentity

  it('knows itself, and is not dead', () => {
    expect(mine).toEqual({
      pid: process.pid,
      startedAt: expect.stringMatching(/^\d+$/),
      bootId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      pidNamespace: expect.stringMatching(/^pid:\[\d+\]$/),
    })
    expect(isProvenDead(mine)).toBe(false)
  })

  it('is alive while it runs, whatever its name, and dead once it is gone', async () => {
    const { child, identity } = startOther()
    if (child.stdout !== null) await once(child.stdout, 'data')
    expect(readFileSync(`/proc/${child.pid}/stat`, 'utf8')).toContain('(a) b (c)')
    expect(isProvenDead(identity)).toBe(false)
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    expect(isProvenDead(identity)).toBe(true)
  })

  it('is dead once it has ended, also while nobody has asked how', async () => {
    // The shell becomes a program that never asks how its child ended. The child ends after that, or the shell would ask.
    const stdio = ['ignore', 'pipe', 'inherit', 'pipe'] as const
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 1000'], { stdio: [...stdio] })
    try {
      const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer]
      const pid = Number(line.toString())
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
      ;(parent.stdio[3] as Writable).end()
      const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      await expect.poll(() => stat()[0]).toBe('Z')
      expect(isProvenDead({ ...mine, pid, startedAt: stat()[19] ?? '' })).toBe(true)
    } finally {
      parent.kill('SIGKILL')
    }
  })

  it('is dead when its pid now belongs to a process that started at another time', () => {
    expect(isProvenDead({ ...mine, startedAt: String(Number(mine.startedAt) - 1) })).toBe(true)
  })

  it('is never proven dead from another pid namespace, where its pid means another process or none', () => {
    const elsewhere = { ...mine, pidNamespace: 'pid:[1]' }
    expect(isProvenDead({ ...elsewhere, startedAt: '0' })).toBe(false)
    expect(isProvenDead({ ...elsewhere, pid: 2 ** 30 })).toBe(false)
  })

  it('of another boot or another machine is never proven dead by its pid', () => {
    expect(isProvenDead({ ...mine, bootId: 'another', startedAt: '0' })).toBe(false)
  })

  it('proves nothing about others where the system does not tell who it is itself', () => {
    expect(isProvenDead({ ...mine, startedAt: '0' }, null)).toBe(false)
  })
})
