// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

/** Who may still write about a run, and what happens to a lease that nobody renews. */
export const fences: readonly Mutant[] = [
  {
    id: 'plain-end-without-fence',
    hazard: 'A holder whose lease was taken back ends the run in the hands of its successor.',
    edits: [
      [
        'plainLeases',
        'and fence = $2 and ns = $3 and schedule_id is null',
        'and fence >= $2 and ns = $3 and schedule_id is null',
      ],
    ],
    suites: [conformance('law 4: a holder')],
  },
  {
    id: 'end-without-fence-sqlite',
    hazard: 'On SQLite an end with an older fence takes the lease of the newer one away.',
    edits: [
      [
        'takeLeases',
        '.sqlite} and fence = $2 and ns = $3\n    returning',
        '.sqlite} and fence >= $2 and ns = $3\n    returning',
      ],
    ],
    suites: [conformance('memory: law 4: a holder')],
  },
  {
    id: 'end-without-fence-postgres',
    hazard: 'On PostgreSQL an end with an older fence takes the lease of the newer one away.',
    edits: [
      [
        'takeLeases',
        '.postgres} and fence = $2 and ns = $3\n    returning',
        '.postgres} and fence >= $2 and ns = $3\n    returning',
      ],
    ],
    suites: [conformance('PostgreSQL law 4: a holder')],
  },
  {
    id: 'renewal-without-fence',
    hazard: 'A holder whose lease was taken back keeps the lease of its successor alive.',
    edits: [['renewLeases', 'and fence = $2 and ns', 'and fence >= $2 and ns']],
    suites: [conformance('law 4: a holder')],
  },
  {
    id: 'output-without-fence-sqlite',
    hazard: 'On SQLite a holder whose lease was taken back still writes output.',
    edits: [['holdLease', "fence = $2 and ns = $3',", "fence >= $2 and ns = $3',"]],
    suites: ['test/store/output.test.ts'],
  },
  {
    id: 'output-without-fence-postgres',
    hazard: 'On PostgreSQL a holder whose lease was taken back still writes output.',
    edits: [['holdLease', 'fence = $2 and ns = $3 for no key update', 'fence >= $2 and ns = $3 for no key update']],
    suites: ['test/store/output.test.ts'],
  },
  {
    id: 'output-without-lock',
    hazard: 'On PostgreSQL two writes of one attempt come between each other, and a reclaim between check and write.',
    edits: [['holdLease', 'and ns = $3 for no key update', 'and ns = $3']],
    suites: ['test/store/interleaved.test.ts'],
  },
  {
    id: 'fence-beaten-by-the-clock',
    hazard: 'A holder that is late cannot renew although nobody has taken its lease.',
    edits: [['renewLeases', 'and fence = $2 and ns = $3', 'and fence = $2 and ns = $3 and expires_at > $4 - 30000']],
    suites: [conformance('memory: law 4: the fence decides')],
  },
  {
    id: 'end-forgets-its-lease',
    hazard: 'On SQLite a plain success leaves its lease behind, which later expires and runs again.',
    edits: [
      [
        'dropPlainLeases',
        "sqlite: `delete from belfry.lease where run_id ${inList.numbers('$1').sqlite}`,\n  postgres: null",
        'sqlite: null,\n  postgres: null',
      ],
    ],
    suites: ['test/store/transaction.test.ts', conformance('memory: law 14: an end that is told twice')],
  },
  {
    id: 'second-telling-is-lost',
    hazard: 'An end that is told again after an unknown commit is answered as a lost lease, and stops what succeeded.',
    edits: [
      [
        'notWritten',
        "return outcome === undefined || outcome === 'lost' ? 'lease-lost' : 'already-written'",
        "return outcome === '' ? 'already-written' : 'lease-lost'",
      ],
    ],
    suites: [conformance('memory: law 14: an end that is told twice')],
  },
  {
    id: 'removed-run-called-lost',
    hazard: 'An end that was written, and whose run retention has removed since, is told as a lost lease.',
    edits: [
      ['notWritten', "if (byFence === undefined) return 'gone'", "if (byFence === undefined) return 'lease-lost'"],
    ],
    suites: [conformance('memory: law 14: an end that is told again')],
  },
  {
    id: 'lost-lease-called-written',
    hazard: 'A holder whose lease was taken back is told that its end was written.',
    edits: [
      [
        'notWritten',
        "return outcome === undefined || outcome === 'lost' ? 'lease-lost' : 'already-written'",
        "return outcome === '' ? 'lease-lost' : 'already-written'",
      ],
    ],
    suites: [conformance('memory: law 4: a holder')],
  },
  {
    id: 'plain-end-forgets-the-cancel',
    hazard: 'A success after a request to cancel is not marked as late.',
    edits: [['plainLeases', '\n  and cancel_requested_at is null`', '`']],
    suites: ['test/choices/runs.test.ts', conformance('cancel and complete raced')],
  },
  {
    id: 'plain-end-forgets-the-dedupe-key',
    hazard: 'A plain success keeps its dedupe key, and work with that key is refused for ever.',
    edits: [['plainLeases', 'and concurrency_key is null and dedupe_key is null', 'and concurrency_key is null']],
    suites: ['test/choices/work.test.ts', conformance('memory: a dedupe key')],
  },
  {
    id: 'batch-is-never-halved',
    hazard: 'One end that cannot be written keeps all the others of its batch from being written.',
    edits: [
      ['SqlStore.#settleOrHalve', 'const [end] = ends', 'if (ends.length > 1) throw error\n      const [end] = ends'],
    ],
    suites: [conformance('memory: a row that cannot be written')],
  },
  {
    id: 'reclaim-takes-living-leases',
    hazard: 'Leases are taken back from holders that are alive and in time.',
    edits: [
      ['findReclaimable', 'where expires_at <= $1 order by expires_at', 'where leased_at <= $1 order by expires_at'],
      [
        'leases/reclaim.ts takeBack',
        "and (expires_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').sqlite})",
        "and (leased_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').sqlite})",
      ],
      [
        'leases/reclaim.ts takeBack',
        "and (expires_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').postgres})",
        "and (leased_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').postgres})",
      ],
    ],
    suites: [conformance('law 4: the fence decides'), 'test/store/reclaim.test.ts'],
  },
  {
    id: 'reclaim-takes-renewed-leases',
    hazard: 'On PostgreSQL a lease that was renewed between the look and the taking is taken all the same.',
    edits: [
      [
        'leases/reclaim.ts takeBack',
        "and (expires_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').postgres})",
        "and (expires_at - 86400000 <= $2 or ns = $4 and worker_id ${inList.numbers('$3').postgres})",
      ],
    ],
    suites: ['test/store/interleaved.test.ts', conformance('PostgreSQL law 4: reclaim, renew')],
  },
  {
    id: 'reclaim-crosses-namespaces',
    hazard: 'Whoever declares a worker dead takes leases of another namespace.',
    edits: [
      ['leases/reclaim.ts findOfWorkers', 'where ns = $3 and worker_id', 'where $3 = $3 and worker_id'],
      [
        'leases/reclaim.ts takeBack',
        "or ns = $4 and worker_id ${inList.numbers('$3').sqlite}",
        "or $4 = $4 and worker_id ${inList.numbers('$3').sqlite}",
      ],
    ],
    suites: ['test/store/reclaim.test.ts'],
  },
  {
    id: 'renewal-crosses-namespaces',
    hazard: 'A lease is renewed from another namespace.',
    edits: [['renewLeases', 'and fence = $2 and ns = $3', 'and fence = $2 and $3 = $3']],
    suites: [conformance('nothing that is named by its id')],
  },
  {
    id: 'end-crosses-namespaces',
    hazard: 'A run is ended from another namespace.',
    edits: [
      [
        'plainLeases',
        'and fence = $2 and ns = $3 and schedule_id is null',
        'and fence = $2 and $3 = $3 and schedule_id is null',
      ],
    ],
    suites: [conformance('nothing that is named by its id')],
  },
  {
    id: 'cancel-crosses-namespaces-sqlite',
    hazard: 'On SQLite a run is cancelled, reset or retried from another namespace.',
    edits: [['run-outline.ts findOutlines', 'where d.id = $1 and d.ns = $2`', 'where d.id = $1 and $2 = $2`']],
    suites: [conformance('SQLite file nothing that is named by its id')],
  },
  {
    id: 'cancel-crosses-namespaces-postgres',
    hazard: 'On PostgreSQL a run is cancelled, reset or retried from another namespace.',
    edits: [['run-outline.ts findOutlines', "'d.id = i.id and d.ns = i.ns'", "'d.id = i.id'"]],
    suites: [conformance('PostgreSQL nothing that is named by its id')],
  },
  {
    id: 'claim-told-to-strangers',
    hazard: 'What a claim was granted is told to another namespace.',
    edits: [['leasesOfClaim', 'where l.claim_id = $1 and l.ns = $2 order', 'where l.claim_id = $1 and $2 = $2 order']],
    suites: [conformance('nothing that is named by its id')],
  },
]
