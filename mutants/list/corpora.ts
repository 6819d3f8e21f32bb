// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const folder = 'test/parts/corpus'
const commit = `${folder}/commit.test.ts`
const doors = `${folder}/doors.test.ts`
const history = `${folder}/history.test.ts`

/** Documents that are lost or written over, phases that are paid for in vain, and texts that give orders. */
export const corpora: readonly Mutant[] = [
  {
    id: 'phase-renamed-before-its-fence',
    hazard: 'A worker whose lease was taken back writes its result over the document all the same.',
    edits: [
      [
        'settleFully',
        'return lease === undefined ? [] : [{ one, lease, outcome: lastOutcome(one.end) }]',
        'if (lease === undefined) lastOutcome(one.end)\n    return lease === undefined ? [] : [{ one, lease, outcome: lastOutcome(one.end) }]',
      ],
    ],
    suites: [commit],
  },
  {
    id: 'phase-committed-over-an-edit',
    hazard:
      'On PostgreSQL a phase is committed between the read and the rename of an edit, and one of the two is lost.',
    edits: [['settleFully', 'yield* lockForEffects(ends)', 'if (ends.length > 1_000) yield* lockForEffects(ends)']],
    suites: [`${folder}/interleaved.test.ts`],
  },
  {
    id: 'edit-of-an-old-revision',
    hazard: 'An edit of an old revision overwrites what another hand has written since.',
    edits: [['editItem', 'edit.ifRevision !== revision', 'edit.ifRevision > revision']],
    suites: [`${folder}/life.test.ts`],
  },
  {
    id: 'phase-renamed-over-another-document',
    hazard: 'A result that was prepared from an earlier document replaces the edited one.',
    edits: [['PhaseEffect.#place', 'prepared.base === current.hash', 'prepared.base !== current.stat']],
    suites: [commit],
  },
  {
    id: 'own-commit-not-found-again',
    hazard: 'A phase whose transaction is repeated is committed twice.',
    edits: [['PhaseEffect.#place', 'last.run === this.commit.run', 'last.run === this.commit']],
    suites: [commit],
  },
  {
    id: 'commit-of-a-dead-worker-ignored',
    hazard: 'A phase whose worker died after its rename is run and paid for again.',
    edits: [['look-item.ts startOf', 'if (was.hash !== hash)', 'if (was.hash === null)']],
    suites: [commit],
  },
  {
    id: 'failure-of-another-program-never-tried',
    hazard: 'A document that was left as failed when its tree is taken over is never refreshed again.',
    edits: [
      [
        'look-item.ts startOf',
        'if (was === null) return { ...anew, state: retried(corpus, phaseState)',
        'if (was === null) return { ...anew, state: phaseState',
      ],
    ],
    suites: [`${folder}/takeover.test.ts`],
  },
  {
    id: 'result-over-a-persons-text',
    hazard: 'The result of a phase replaces the text that a person wrote into the same field meanwhile.',
    edits: [['commitPhase', 'isSame(document[name], base[name])', 'isSame(base[name], base[name])']],
    suites: ['test/core/corpus.test.ts'],
  },
  {
    id: 'rejected-result-dropped',
    hazard: 'A result that stands against the text of a person is thrown away.',
    edits: [['PhaseEffect.#keepCopies', 'rejected.length > 0', 'rejected.length > 99']],
    suites: [`${folder}/life.test.ts`],
  },
  {
    id: 'rejected-result-in-the-store-dropped',
    hazard: 'A result for an item in the store that stands against the text of a person is thrown away.',
    edits: [['phase-ends.ts keepCopies', 'rejected.length > 0', 'rejected.length > 99']],
    suites: [history],
  },
  {
    id: 'failing-item-never-parked',
    hazard: 'An item that always fails is tried and paid for once more than its corpus allows.',
    edits: [['afterFailure', 'attempts >= corpus.spec.attempts', 'attempts > corpus.spec.attempts']],
    suites: [`${folder}/failure.test.ts`],
  },
  {
    id: 'aborted-item-goes-on',
    hazard: 'An item that a person aborted is picked again.',
    edits: [['afterFailure', "if (code === 'ABORT')", "if (code === 'NEVER')"]],
    suites: [`${folder}/trigger.test.ts`],
  },
  {
    id: 'drain-without-its-budget',
    hazard: 'A corpus that drains spends more than its budget.',
    edits: [['boundPhases', 'subject: `corpus/${name}`', 'subject: `corpus/not ${name}`']],
    suites: [doors],
  },
  {
    id: 'brief-without-fence',
    hazard: 'What a model wrote reaches the next phase as if a person had.',
    edits: [['fencedField', '[name]: fence(asText(value))', '[name]: asText(value)']],
    suites: [`${folder}/fences.test.ts`],
  },
  {
    id: 'half-an-answer-taken',
    hazard: 'The end of a long answer is taken for the whole, and replaces the content.',
    edits: [['phaseAnswer', 'facts.incomplete !== undefined', "facts.incomplete === ''"]],
    suites: [doors],
  },
  {
    id: 'restore-without-a-copy',
    hazard: 'A restore loses the text that it replaces.',
    edits: [['editItem', 'if (snapshot !== undefined)', "if (snapshot === '')"]],
    suites: [history],
  },
  {
    id: 'repair-without-the-bytes',
    hazard: 'A repair loses the document that it could not read.',
    edits: [['keepTorn', 'if (same === undefined)', "if (same === '')"]],
    suites: [history],
  },
  {
    id: 'content-by-hand-not-reviewed',
    hazard: 'A restored content, or one that a person wrote, is never reviewed.',
    edits: [['currentInputs', "writes.includes('_content')", "writes.includes('_none')"]],
    suites: [history],
  },
  {
    id: 'trigger-answered-with-another-run',
    hazard: 'A trigger is answered with the run of the tick, and does not do what was asked for.',
    edits: [['triggerPhase', 'yield* withdrawPicked(', "if (item.path === '') yield* withdrawPicked("]],
    suites: [`${folder}/trigger.test.ts`],
  },
  {
    id: 'failed-phase-for-nothing',
    hazard: 'What a phase used whose answer was refused is not counted, and a corpus spends more than its budget.',
    edits: [['besideOf', 'answered !== undefined', 'answered === -1']],
    suites: [`${folder}/failure.test.ts`],
  },
  {
    id: 'limit-of-a-provider-parks-an-item',
    hazard: 'Every refusal by the limit of a provider counts as a failure of the item, which is parked for it.',
    edits: [['besideOf', 'rateLimited !== undefined', 'rateLimited === null']],
    suites: [`${folder}/failure.test.ts`],
  },
  {
    id: 'disabled-item-paid-for',
    hazard: 'An item that a person disabled after it was picked is run and paid for.',
    edits: [['beginPhase', "item.status === 'disabled'", "item.status === 'never'"]],
    suites: [`${folder}/tick.test.ts`],
  },
  {
    id: 'removed-document-seeded-again',
    hazard: 'A rule makes an item again, and pays for it, of a folder whose document a person removed.',
    edits: [['notGone', '!gone.has(path) && !known.has(path)', 'path !== undefined']],
    suites: [`${folder}/tick.test.ts`],
  },
  {
    id: 'slots-beyond-the-ceiling',
    hazard: 'A corpus that drains enqueues more phases than it has free slots.',
    edits: [['orderNext', 'const most = drain ? free', 'const most = drain ? 99']],
    suites: [`${folder}/tick.test.ts`],
  },
]
