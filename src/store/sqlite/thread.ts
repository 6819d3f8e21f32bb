import { Worker } from 'node:worker_threads'

/**
 * Runs one pragma on its own connection in its own thread: reading or writing a whole file takes seconds, and the event loop has
 * milliseconds. Returns the first value, or the message of the error.
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
