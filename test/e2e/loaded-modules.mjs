/** Told to Node before a program: writes the paths of the modules that it loads to where LOADED says. */
import { appendFileSync } from 'node:fs'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) register(import.meta.url)

export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, `${url}\n`)
  return next(url, context)
}
