import { Worker } from 'node:worker_threads'

/**
 * Runs one pragma on a connection of its own in a thread of its own: what reads or writes a whole file takes seconds, and
 * the event loop has milliseconds. Answers the first value, or what went wrong as an error's message.
 */
export function pragmaInThread(file: string, pragma: string): Promise<{ value: string } | { error: string }> {
  const module = import.meta.resolve('@photostructure/sqlite')
  const worker = new Worker(source, { eval: true, workerData: { file, pragma, module } })
  return new Promise((done, fail) => {
    worker.once('message', done)
    worker.once('error', fail)
  })
}

const source = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData.module).then(({ DatabaseSync }) => {
    try {
      const handle = new DatabaseSync(workerData.file, { timeout: 5000 })
      const row = handle.prepare('pragma ' + workerData.pragma).get()
      handle.close()
      parentPort.postMessage({ value: String(Object.values(row)[0]) })
    } catch (error) {
      parentPort.postMessage({ error: error.message })
    }
  })`
