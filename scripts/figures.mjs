/** How the long proofs write down what they have shown. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'

/**
 * What figures mean nothing without, of a proof that began at this instant and is over now.
 *
 * @param {Date} began
 */
export function conditionsSince(began) {
  return {
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    seconds: Math.round((Date.now() - began.getTime()) / 1_000),
    at: began.toISOString(),
  }
}

/**
 * A proof that took hours must not be lost for want of a folder.
 *
 * @param {string} path
 * @param {object} figures
 */
export function writeFigures(path, figures) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(figures, null, 2)}\n`)
}
