import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'
const roomBytesMin = 8 * 1024 ** 3

/**
 * Where tests put what they throw away: in memory where a machine has much of it. What is synced there costs nothing, and
 * whoever is killed leaves behind what he would have left on a disk. What is about disks names one.
 */
export function scratchFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(memory)
    accessSync(memory, constants.W_OK)
    return bavail * bsize >= roomBytesMin ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}
