import { BelfryError } from '../../../core/error.ts'
import { name as nameField } from '../../../operations/fields/basic-fields.ts'
import { absent } from '../../../operations/not-found.ts'
import { everyDoor } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type Corpus, findCorpus, listCorpora } from '../corpus-row.ts'
import { rootProblem } from '../tree/root-mark.ts'

export const corpusName = nameField.describe('The name of the corpus.')
/** Models have separate tools for a corpus. */
export const doors = { ...everyDoor, mcp: 'Models use the tools of `belfry mcp --corpus NAME`.' }

/** The corpus with this name; an unknown one is refused. A write also refuses a corpus whose root this process does not see. */
export async function presentIn(
  { store }: Pick<OperationContext, 'store'>,
  name: string,
  { isWrite = false } = {},
): Promise<Corpus> {
  const found = await store.look(findCorpus, name)
  if (found === null) {
    const known = (await store.look(listCorpora)).map((corpus) => corpus.name)
    throw absent('corpus', name, known, 'List corpora with `belfry corpus list`.')
  }
  const problem = isWrite ? rootProblem(found) : null
  if (problem === null) return found
  throw rootAway(found, problem)
}

/** The error for a corpus whose root this process cannot work on. */
export function rootAway({ name, spec: { root } }: Pick<Corpus, 'name' | 'spec'>, problem: string): BelfryError {
  return new BelfryError('unavailable', `The root ${root} of corpus ${name} ${problem}.`, {
    hint: 'Ask a process of the machine where it lies.',
    details: { corpus: name, root },
  })
}

export function seenRoot(corpus: Corpus): boolean {
  return rootProblem(corpus) === null
}
