import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { redisVersion } from './places.mjs'
import { runChild } from './processes.mjs'

const folder = fileURLToPath(new URL('.', import.meta.url))

/**
 * Installs the peers into `bench/node_modules` when they are not there. Answers why not, where that failed. The one that
 * has to be compiled is optional, so that a machine without a compiler still has all others.
 */
export function installPeers(say) {
  if (existsSync(`${folder}node_modules/.package-lock.json`)) return null
  say('installing the peers into bench/node_modules; one of them may have to be compiled, which takes some minutes')
  const { status, error, stderr } = spawnSync('npm', ['ci', '--no-progress'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status === 0) return null
  return `npm ci failed: ${error?.message ?? whatNpmSays(stderr)}`
}

/** Tells apart who can be measured here and who cannot, with the reason. */
export async function whoIsPresent(contestants, installFailure) {
  const present = []
  const absent = []
  for (const contestant of contestants) {
    const reason = await absence(contestant, installFailure)
    if (reason === null) present.push(contestant)
    else absent.push({ contestant: contestant.name, reason })
  }
  return { present, absent }
}

async function absence({ module, packages = [], place }, installFailure) {
  if (place === 'redis' && redisVersion() === null) return 'there is no redis-server on the path'
  try {
    await runChild(import.meta.url, { module: new URL(`contestants/${module}`, import.meta.url).href })
    return null
  } catch (error) {
    return packages.length > 0 && installFailure !== null ? installFailure : reasonOf(error)
  }
}

/** In a process of its own: whether the contestant's module can be loaded at all. */
export async function child({ module }) {
  await import(module)
}

/** The versions that were really installed. */
export function peerVersions() {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
  const names = Object.keys({ ...dependencies, ...optionalDependencies }).toSorted()
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]))
}

function versionOf(name) {
  try {
    return JSON.parse(readFileSync(`${folder}node_modules/${name}/package.json`, 'utf8')).version
  } catch {
    return null
  }
}

/** Why it could not be loaded, without the paths of this machine. */
export function reasonOf({ message }) {
  const [, missing] = /Cannot find (?:package|module) '([^']+)'/.exec(message) ?? []
  return missing === undefined ? message.replaceAll(folder, 'bench/') : `${missing} is not installed`
}

/** The first thing that npm says besides a code; its last words name only its log. */
export function whatNpmSays(stderr) {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, ''))
  return lines.find((line) => !/^(npm warn|code |$)/.test(line)) ?? 'it did not say why'
}
