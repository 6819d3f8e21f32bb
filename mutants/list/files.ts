// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const store = 'test/parts/config/store.test.ts'
const many = 'test/parts/imports/store.test.ts'
const watch = 'test/parts/config/watch.test.ts'
const trust = 'test/parts/config/trust.test.ts'
const verb = 'test/parts/config/operations.test.ts'
const fire = 'test/store/fire-found-twice.test.ts'

/** Files that look after schedules: what they may change, and what nobody else may. */
export const files: readonly Mutant[] = [
  {
    id: 'file-sweeps-a-fleet-away',
    hazard: 'A file that was cut short deletes nearly everything that its source made.',
    edits: [['turnOf', 'gone.length * 2 <= kept.length', 'gone.length <= kept.length']],
    suites: [store],
  },
  {
    id: 'file-deletes-what-others-made',
    hazard: 'A file deletes what another source looks after.',
    edits: [
      [
        'schedules-section.ts findKept',
        `'select name, spec from belfry.schedule where ns = $1 and managed_by = $2 and deleted_at is null order by name'`,
        `'select name, spec from belfry.schedule where ns = $1 and managed_by <> managed_by || $2 and deleted_at is null order by name'`,
      ],
    ],
    suites: [store],
  },
  {
    id: 'managed-is-changed-by-anybody',
    hazard: 'What a file looks after is changed through another door, and the file undoes it some day.',
    edits: [
      [
        'managed.ts refuseManaged',
        'managedBy === null || managedBy === source',
        'managedBy === null || source !== null',
      ],
    ],
    suites: [store],
  },
  {
    id: 'file-overwrites-what-was-made-by-hand',
    hazard: 'A file that happens to use a name overwrites what somebody made by hand.',
    edits: [['refuseUnasked', 'managedBy !== null || adopt) return', 'managedBy !== null || !adopt) return']],
    suites: [store],
  },
  {
    id: 'policy-of-a-file-is-a-change',
    hazard: 'What a file no longer says of a queue still holds there, and nobody can see why.',
    edits: [
      ['set-queue.ts update', 'change.isWhole === true ? null : stored', 'change.isWhole === null ? null : stored'],
    ],
    suites: [store],
  },
  {
    id: 'token-is-made-with-another-scope',
    hazard: 'A token that a file limits is made with the rights of an admin.',
    edits: [['createToken', 'said !== null && said.scope !== scope', 'said !== null && said.scope === null']],
    suites: [store],
  },
  {
    id: 'changes-in-the-way-are-passed-over',
    hazard: 'Of many changes some are made, though one of them was in the way of something.',
    edits: [['writeDraft', '  refuseConflicts(answers, schedules)\n', '']],
    suites: [many],
  },
  {
    id: 'restart-brings-back-the-deleted',
    hazard: 'A worker that starts with an old checkout brings back what was deleted.',
    edits: [['ConfigWatch.#look', 'this.#done === null && content === this.#first', 'this.#done === content']],
    suites: [watch],
  },
  {
    id: 'known-content-is-only-the-newest',
    hazard: 'Content that a source had before is taken for new.',
    edits: [
      ['knownContent', 'if (appliedAt === null) return null', 'if (appliedAt === null || source === "") return null'],
      ['findContent', 'and hash = $3', 'and hash = $3 and applied_at > 1e15'],
    ],
    suites: [verb],
  },
  {
    id: 'trust-is-for-any-place',
    hazard: 'A file that was vouched for in one tree starts other programs from another.',
    edits: [
      [
        'Trust.#lineOf',
        'return `${this.programs(file).hash} ${file.path}`',
        'return `${this.programs(file).hash} ${file.path.length * 0}`',
      ],
    ],
    suites: [trust],
  },
  {
    id: 'trust-outlives-an-edit',
    hazard: 'Whoever vouched for a file once has vouched for whatever it says later.',
    edits: [
      [
        'Trust.#lineOf',
        'return `${this.programs(file).hash} ${file.path}`',
        'return `${this.programs(file).hash.length * 0} ${file.path}`',
      ],
    ],
    suites: [trust],
  },
  {
    id: 'programs-of-notices-need-no-trust',
    hazard: 'A file starts a program by another field than its target, and nobody was asked.',
    edits: [['startsIn', 'return data.has(key) ? []', `return data.has(key) || key.startsWith('on') ? []`]],
    suites: [trust],
  },
  {
    id: 'moved-schedule-is-taken-twice',
    hazard: 'A schedule that somebody moves while it is looked for has its turn twice in one step.',
    edits: [['lockDue', '!taken.has(row.id)', 'taken.size > 0 && row.id !== null']],
    suites: [fire],
  },
]
