import { counted, type HealthCheck, note, wrong } from '../../operations/store/health-check.ts'
import { type Corpus, listCorpora } from './corpus-row.ts'
import { rootProblem } from './tree/root-mark.ts'
import { statusOf } from './verbs/corpus-status.ts'

/** Whether corpora can be worked on here, and what in them waits for a person. */
export const corpusCheck: HealthCheck = {
  check: 'corpora',
  says: 'Whether the roots of corpora are there with their ids, and no item is parked or unreadable.',
  unblocks:
    '`belfry corpus list NAME --parked` shows the items, `belfry corpus release NAME --all` lets parked ones go on; a worker must run where the root lies.',
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
  const { counts, readsAll } = await statusOf(context, corpus)
  const problem = rootProblem(corpus)
  const stuck = (counts.parked ?? 0) + (counts.unreadable ?? 0)
  return [
    ...(problem === null
      ? []
      : [wrong(`corpus ${name}`, `The root ${spec.root} of ${name} ${problem}.`, `belfry corpus status ${name}`)]),
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
