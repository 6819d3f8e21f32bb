/** SQLite whose statements are watched: the driver's own prototypes are closed. It is loaded in place of the driver. */
import { DatabaseSync as Driver } from '@photostructure/sqlite'

export class DatabaseSync extends Driver {
  prepare(sql) {
    const statement = super.prepare(sql)
    for (const name of ['run', 'get', 'all']) globalThis.watchCall?.(statement, name, () => sql)
    return statement
  }
}

/** As a hook of the module loader. */
export async function resolve(specifier, context, next) {
  const isDriver = specifier === '@photostructure/sqlite' && context.parentURL !== import.meta.url
  return isDriver ? { url: import.meta.url, shortCircuit: true } : next(specifier, context)
}
