import { readFileSync } from 'node:fs'
import { canonicalJson } from '../../../store/check.ts'
import { both, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { KindStore } from '../../../targets/kind.ts'
import { type Corpus, findCorpus, lockCorpus, saveCorpusCounts } from '../corpus-row.ts'
import { markAll } from '../items/item-row.ts'
import { hashOf } from './document-file.ts'

const saveInputs = both('corpus save inputs', 'update belfry.corpus set inputs_hash = $2 where id = $1')

/**
 * A fingerprint of what all items of a corpus consume alike: the texts of its prompts, and its targets. Null if a prompt file cannot be
 * read now, as while an editor replaces it: what cannot be read owes nothing.
 */
function promptsHash({ spec: { prompts, target, targets } }: Corpus): string | null {
  const files = Object.values(prompts).map(textOf)
  return files.includes(null) ? null : hashOf(canonicalJson([Object.keys(prompts), files, target, targets]))
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Marks all items if a prompt has changed since the last look at the corpus. The looks that follow are bounded like any other. */
export async function lookAtPrompts(store: KindStore, name: string): Promise<void> {
  const corpus = await store.look(findCorpus, name)
  const hash = corpus === null ? null : promptsHash(corpus)
  if (hash !== null && hash !== corpus?.inputsHash) await store.do(markForPrompts, name, hash)
}

function* markForPrompts(context: StoreContext, name: string, hash: string): Step<void> {
  const corpus = yield* lockCorpus(context, name)
  if (corpus === null || corpus.inputsHash === hash) return
  yield* run(saveInputs, corpus.id, hash)
  // At the first look at a corpus without prompts there is nothing that could have changed.
  if (corpus.inputsHash === null && Object.keys(corpus.spec.prompts).length === 0) return
  yield* markAll(corpus.id)
  yield* saveCorpusCounts({ ...corpus, idle: 1 })
}
