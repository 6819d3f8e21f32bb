/** For a process that has none of the optional packages for models: what it imports of them is not found. */
import { register } from 'node:module'

const hooks = `export async function resolve(name, context, next) {
  if (name !== 'ai' && !name.startsWith('@ai-sdk/')) return next(name, context)
  throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
