import { BelfryError } from '../core/error.ts'
import { dialects, one, type Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

const lockNamespace = dialects('managed lock namespace', {
  sqlite: null,
  postgres: 'select id from belfry.namespace where id = $1 for no key update',
})

/**
 * Serialises verbs that apply config files with verbs that create what a file only names: in parallel neither would see the
 * other, and a token could get another scope than its file sets. The namespace row always exists, and it is locked before
 * anything else.
 */
export function* lockManaged({ ns }: StoreContext): Step<void> {
  yield* one(lockNamespace, ns)
}

interface Managed {
  readonly noun: string
  readonly name: string
  readonly managedBy: string | null
}

/**
 * Entries that a config file manages are changed in that file only. The next application of the file would undo any other
 * change, or the change would make the file wrong; and two files would undo each other.
 */
export function refuseManaged({ noun, name, managedBy }: Managed, source?: string): void {
  if (managedBy === null || managedBy === source) return
  const [who, hint] =
    source === undefined
      ? ['change it there', 'Change its spec in the file; pause, resume, run, hint and reset work as usual.']
      : [`source ${source} cannot manage it too`, 'Choose another name, or remove it from the other file first.']
  throw new BelfryError('conflict', `The config file of source ${managedBy} manages ${noun} ${name}: ${who}.`, {
    hint,
    details: { [noun]: name, managedBy },
  })
}
