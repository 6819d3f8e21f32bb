import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { BelfryError } from '../../core/error.ts'

/**
 * The watcher: it reads which groups start, with the seconds that each has after TERM (`+ 12 5`), and which end (`- 12`). When its
 * input closes, the watcher ends the groups that are left. It ignores signals, because a signal to the worker's whole session or
 * service would otherwise end it first. A group that is gone is forgotten at once: its number may soon be another's.
 */
const watch = `
trap '' HUP INT QUIT TERM
groups=' '
while read -r sign group seconds; do
  case $sign in
    +) groups="$groups$group:$seconds " ;;
    -) case $groups in *" $group:"*) rest="\${groups#*" $group:"}"; groups="\${groups%%" $group:"*} \${rest#* }" ;; esac ;;
  esac
done
for each in $groups; do kill -s TERM -- "-\${each%:*}"; done
passed=0
while [ "$groups" != ' ' ]; do
  left=' '
  for each in $groups; do
    kill -s 0 -- "-\${each%:*}" || continue
    if [ "$passed" -ge "\${each#*:}" ]; then kill -s KILL -- "-\${each%:*}"; else left="$left$each "; fi
  done
  groups=$left
  [ "$groups" = ' ' ] && exit
  sleep 1
  passed=$((passed + 1))
done
`

const restartsMax = 3

/**
 * Ends process groups when this process is gone, however it ended: kill -9 closes its pipes like any other end. One watcher, a
 * shell with its own session, serves all groups and lives only while there are some. It is a child of this process, which reaps
 * it; a watcher for each command would be left to process 1, and in a container that may be a program that reaps no children.
 */
export class Tether {
  /** For each group, the seconds that it has after TERM. */
  readonly #groups = new Map<number, number>()
  #watcher: ChildProcess | null = null
  #restarts = 0

  /** Resolves when the group will be ended whatever happens to this process: by TERM, and `killAfterMs` later by KILL. */
  async hold(group: number, killAfterMs: number): Promise<void> {
    const seconds = Math.max(1, Math.ceil(killAfterMs / 1_000))
    this.#groups.set(group, seconds)
    if (this.#watcher === null) await this.#start()
    else await this.#tell(held([group, seconds]))
  }

  /** Call it when the group is gone: its number may soon be reused. */
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
    const watcher = spawn('/bin/sh', ['-c', watch, 'belfry-tether'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#watcher = watcher
    // The watcher must not keep this process alive, because it waits for the end of this process.
    watcher.unref()
    ;(watcher.stdin as Socket | null)?.unref()
    watcher.stdin?.on('error', () => this.#lost(watcher))
    watcher.on('error', () => this.#lost(watcher))
    watcher.on('exit', () => this.#lost(watcher))
    await this.#tell([...this.#groups].map(held).join(''))
  }

  /** The watcher was killed. Another takes over, unless they keep dying. */
  #lost(watcher: ChildProcess): void {
    if (this.#watcher !== watcher) return
    this.#watcher = null
    if (this.#groups.size === 0 || this.#restarts >= restartsMax) return
    this.#restarts++
    // A failure is handled in the same way, as the loss of the new watcher.
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

function held([group, seconds]: readonly [number, number]): string {
  return `+ ${group} ${seconds}\n`
}
