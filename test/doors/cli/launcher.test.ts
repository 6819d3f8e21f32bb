import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }

const launcher = fileURLToPath(new URL(`../../../${packageJson.bin.belfry}`, import.meta.url))

function launch(path: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...words], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

it('is there before anything is built, and says what to do: npm remembers for good that it found nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-launcher-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  cpSync(launcher, join(folder, 'bin', 'belfry.js'))
  const { status, stdout, stderr } = launch(join(folder, 'bin', 'belfry.js'), 'schedule', 'list')
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain('npm run build')
})

it('starts what is built, and may be executed', () => {
  expect(launch(launcher, '--version')).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' })
  expect(statSync(launcher).mode & 0o111).not.toBe(0)
})
