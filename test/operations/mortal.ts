import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { ownIdentity, type ProcessIdentity } from '../../src/store/workers/process-identity.ts'

/** Only Linux tells one process from another. */
export const canTellProcesses = ownIdentity() !== null

/** A process of its own, as its worker would record it, that can be killed. */
export function startProcess() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  onTestFinished(() => void child.kill('SIGKILL'))
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  const identity = { ...(ownIdentity() as ProcessIdentity), pid: child.pid ?? 0, startedAt }
  const kill = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return { identity, kill }
}
