import { accessSync, constants } from 'node:fs'
import { counted, type HealthCheck, note, wrong } from '../../operations/store/health-check.ts'
import { type Corpus, listCorpora } from './corpus-row.ts'
import { rootProblem } from './tree/root-mark.ts'
import { statusOf } from './verbs/corpus-status.ts'

/** Whether workers here can work on the corpora, and which items wait for a person. */
export const corpusCheck: HealthCheck = {
  check: 'corpora',
  says: 'Whether the roots of corpora are there with their ids, their prompts can be read, their external watchers answer, and no item is parked or unreadable.',
  unblocks:
    '`belfry corpus list NAME --parked` shows the items, `belfry corpus release NAME --all` lets parked ones go on, `belfry corpus repair NAME --all` repairs unreadable ones; a worker must run where the root lies. A tree that is polled may need `sysctl fs.inotify.max_user_watches` raised.',
  stopsNothing: true,
  async look({ store }) {
    const corpora = await store.look(listCorpora)
    if (corpora.length === 0) return { says: 'There are no corpora.' }
    const findings = (await Promise.all(corpora.map((corpus) => findingsOf({ store }, corpus)))).flat()
    const says =
      findings.length === 0
        ? `${counted(corpora.length, 'corpus').replace('corpuss', 'corpora')}: all well.`
        : `${counted(findings.length, 'finding')} about corpora.`
    return { says, findings }
  },
}

async function findingsOf(context: Parameters<typeof statusOf>[0], corpus: Corpus) {
  const { name, spec } = corpus
  const { counts, readsAll, watches, watchers } = await statusOf(context, corpus)
  const problem = rootProblem(corpus)
  const prompts = Object.entries(spec.prompts).filter(([, file]) => !isReadable(file))
  const stuck = (counts.parked ?? 0) + (counts.unreadable ?? 0)
  return [
    ...(problem === null
      ? []
      : [wrong(`corpus ${name}`, `The root ${spec.root} of ${name} ${problem}.`, `belfry corpus status ${name}`)]),
    ...prompts.map(([phase, file]) => {
      const says = `The prompt of ${phase} of ${name} cannot be read: ${file}. Each ${phase} of it fails.`
      return wrong(`corpus ${name}`, says, `belfry corpus show ${name}`)
    }),
    ...watches.flatMap(({ host, because }) => {
      if (because === null) return []
      const says = `Worker machine ${host} polls the tree of ${name} every few minutes instead of watching it: ${because}.`
      return [note(`corpus ${name}`, says, `belfry corpus status ${name}`)]
    }),
    ...watchers.flatMap(({ host, url, error }) => {
      if (error === null) return []
      const says = `The watcher ${url} of ${name} fails for machine ${host}, and its ticks with it: it ${error}.`
      return [wrong(`corpus ${name}`, says, `belfry corpus status ${name}`)]
    }),
    ...(stuck === 0
      ? []
      : [
          note(
            `corpus ${name}`,
            `${counted(stuck, 'item')} of ${name} parked or unreadable.`,
            `belfry corpus list ${name} --parked`,
          ),
        ]),
    ...(readsAll
      ? [
          note(
            `corpus ${name}`,
            `${name} has so many depths and emphases that each pick reads all items.`,
            `belfry corpus status ${name}`,
          ),
        ]
      : []),
  ]
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}
