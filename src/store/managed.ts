import { BelfryError } from '../core/error.ts'
import { dialects, one, type Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

const lockNamespace = dialects('managed lock namespace', {
  sqlite: null,
  postgres: 'select id from belfry.namespace where id = $1 for no key update',
})

/**
 * Verbs that apply files and verbs that make what a file only names go one after the other: side by side neither would
 * see the other, and a token could have another scope than its file says. The row of the namespace is there before any
 * file is, and it is locked before anything else.
 */
export function* lockManaged({ ns }: StoreContext): Step<void> {
  yield* one(lockNamespace, ns)
}

/** What a file may look after. */
interface Managed {
  readonly noun: 'schedule' | 'queue' | 'token'
  readonly name: string
  readonly managedBy: string | null
}

/**
 * What a file looks after is changed in the file. A change through another door would be undone by the file's next one,
 * or would make the file say something that is not so; and two files would undo each other's.
 */
export function refuseManaged({ noun, name, managedBy }: Managed, source?: string): void {
  if (managedBy === null || managedBy === source) return
  const [who, hint] =
    source === undefined
      ? ['change it there', 'Pause, resume, run, hint and reset it as ever; what it says is changed in its file.']
      : [`source ${source} cannot have it too`, 'Choose another name, or take it out of the other file first.']
  throw new BelfryError('conflict', `The file of source ${managedBy} looks after ${noun} ${name}: ${who}.`, {
    hint,
    details: { [noun]: name, managedBy },
  })
}
