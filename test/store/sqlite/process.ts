import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** What a process says of its opening: where the store is, or the parts of the refusal. */
export interface Opened {
  readonly place?: string
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly hint?: string
}

/** Processes of their own that open stores (see opener.mjs), ended when the test is over. */
export class Openers {
  readonly #children: ChildProcess[] = []

  /** A process that is ready to open the file and waits for the word. */
  async start(file: string, { asPlainUser = false } = {}): Promise<ChildProcess> {
    const child = fork(
      new URL('./opener.mjs', import.meta.url),
      [JSON.stringify({ url: `sqlite:${file}`, asPlainUser })],
      {
        execArgv: [],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    )
    this.#children.push(child)
    await once(child, 'message')
    return child
  }

  async openIn(child: ChildProcess): Promise<Opened> {
    const answer = once(child, 'message')
    child.send('open')
    return (await answer)[0] as Opened
  }

  async open(file: string, options: { asPlainUser?: boolean } = {}): Promise<Opened> {
    return this.openIn(await this.start(file, options))
  }

  /** Opens the file in a process and kills that process while the file is open. */
  async openAndKill(file: string): Promise<void> {
    const child = await this.start(file)
    await this.openIn(child)
    await end(child, () => child.kill('SIGKILL'))
  }

  async closeIn(child: ChildProcess): Promise<void> {
    await end(child, () => child.send('close'))
  }

  async endAll(): Promise<void> {
    for (const child of this.#children.splice(0)) await end(child, () => child.kill('SIGKILL'))
  }
}

async function end(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  ask()
  await gone
}
