import { fork } from 'node:child_process'
import { awaited } from './work.mjs'

const childFile = new URL('child.mjs', import.meta.url)
const live = new Set()

/**
 * Starts a process that runs the `child` of a module. `result` is what it answers; `say` and `hear` talk with it
 * meanwhile. A process that answers nothing in time is ended.
 */
export function startChild(module, input, { timeoutMs = 180_000, execArgv = [] } = {}) {
  const env = { ...process.env, NO_LOG_SUCCESS: '1', NODE_ENV: 'production' }
  const child = fork(childFile, {
    env,
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  live.add(child)
  const result = awaited()
  // Whoever talks with a process hears of its end there, and may never ask for its answer.
  result.promise.catch(() => undefined)
  const heard = []
  let waiting = null
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    result.reject(new Error(`no answer in ${timeoutMs / 1_000} s`))
  }, timeoutMs)
  child.on('message', (message) => {
    if ('error' in message) result.reject(Object.assign(new Error(message.error), { stack: message.stack }))
    else if ('answer' in message) result.resolve(message.answer)
    else if (waiting === null) heard.push(message.said)
    else waiting(message.said)
  })
  const gone = new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      live.delete(child)
      result.reject(new Error(`the process ended with ${signal ?? `code ${code}`} before it answered`))
      resolve()
    })
  })
  child.send({ module, input })
  const hear = () => {
    if (heard.length > 0) return Promise.resolve(heard.shift())
    const next = new Promise((resolve) => {
      waiting = (message) => {
        waiting = null
        resolve(message)
      }
    })
    return Promise.race([next, result.promise.then(() => Promise.reject(new Error('the process ended too soon')))])
  }
  return { result: result.promise, gone, hear, say: (message) => child.send(message), end: () => child.kill('SIGKILL') }
}

/** Runs the `child` of a module to its end and answers what it answered. */
export async function runChild(module, input, options) {
  const { result, gone } = startChild(module, input, options)
  try {
    return await result
  } finally {
    await gone
  }
}

/** Ends what is still there when the bench itself is stopped half-way. */
export function endChildren() {
  for (const child of live) child.kill('SIGKILL')
}
