import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { BelfryError } from '../../core/error.ts'

/**
 * The watcher: it reads which groups start (`+ 12`) and end (`- 12`), and when its input closes it ends those that are left. It
 * ignores signals, because a signal to the worker's whole session or service would otherwise end it first.
 */
const watch = `
trap '' HUP INT QUIT TERM
seconds=$1
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group"; done
while [ "$seconds" -gt 0 ]; do
  left=
  for group in $groups; do kill -s 0 -- "-$group" && left=$group; done
  [ -z "$left" ] && exit
  sleep 1
  seconds=$((seconds - 1))
done
for group in $groups; do kill -s KILL -- "-$group"; done
`

const restartsMax = 3

/**
 * Ends process groups when this process is gone, however it ended: kill -9 closes its pipes like any other end. One watcher, a
 * shell with its own session, serves all groups and lives only while there are some. It is a child of this process, which reaps
 * it; a watcher for each command would be left to process 1, and in a container that may be a program that reaps no children.
 */
export class Tether {
  readonly #killAfterMs: number
  readonly #groups = new Set<number>()
  #watcher: ChildProcess | null = null
  #restarts = 0

  constructor(killAfterMs: number) {
    this.#killAfterMs = killAfterMs
  }

  /** Resolves when the group will be ended whatever happens to this process. */
  async hold(group: number): Promise<void> {
    this.#groups.add(group)
    if (this.#watcher === null) await this.#start()
    else await this.#tell(`+ ${group}\n`)
  }

  /** The group is over. Its number may soon be reused. */
  letGo(group: number): void {
    if (!this.#groups.delete(group)) return
    const watcher = this.#watcher
    if (this.#groups.size > 0) {
      watcher?.stdin?.write(`- ${group}\n`)
      return
    }
    this.#watcher = null
    this.#restarts = 0
    watcher?.stdin?.end(`- ${group}\n`)
  }

  async #start(): Promise<void> {
    const seconds = Math.max(1, Math.ceil(this.#killAfterMs / 1_000))
    const watcher = spawn('/bin/sh', ['-c', watch, 'belfry-tether', String(seconds)], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#watcher = watcher
    // It must not keep this process alive: it waits for the end of this process.
    watcher.unref()
    ;(watcher.stdin as Socket | null)?.unref()
    watcher.stdin?.on('error', () => this.#lost(watcher))
    watcher.on('error', () => this.#lost(watcher))
    watcher.on('exit', () => this.#lost(watcher))
    await this.#tell([...this.#groups].map((group) => `+ ${group}\n`).join(''))
  }

  /** The watcher was killed. Another takes over, unless they keep dying. */
  #lost(watcher: ChildProcess): void {
    if (this.#watcher !== watcher) return
    this.#watcher = null
    if (this.#groups.size === 0 || this.#restarts >= restartsMax) return
    this.#restarts++
    // A failure is handled here as the loss of the new one.
    this.#start().catch(() => undefined)
  }

  #tell(line: string): Promise<void> {
    const watcher = this.#watcher
    return new Promise((resolve, reject) => {
      const fail = (cause?: unknown) =>
        reject(
          new BelfryError('unavailable', 'The watcher that ends this command with its worker is not running.', {
            cause,
          }),
        )
      if (watcher?.pid === undefined || watcher.stdin === null) fail()
      else watcher.stdin.write(line, (error) => (error ? fail(error) : resolve()))
    })
  }
}
