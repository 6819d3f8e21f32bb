import { conformance, type Mutant } from '../mutant.ts'

/** What makes a commit a promise, and how processes hear of each other. */
export const databases: readonly Mutant[] = [
  {
    id: 'newer-schema-accepted',
    hazard: 'An old program writes into a schema that it misreads.',
    edits: [['isKnown', 'Math.max(0, ...found) <= known', 'true']],
    suites: ['test/store/migrate.test.ts'],
  },
  {
    id: 'migration-without-lock',
    hazard: 'On PostgreSQL two processes that start at once migrate at once.',
    edits: [
      [
        'lockMigrations',
        "postgres: `select pg_advisory_xact_lock(hashtextextended('belfry migrations', 0))`",
        'postgres: null',
      ],
    ],
    suites: [conformance('PostgreSQL four processes that open')],
  },
  {
    id: 'sqlite-syncs-seldom',
    hazard: 'On SQLite a power cut loses acknowledged work.',
    edits: [['configure', 'pragma synchronous = full;', 'pragma synchronous = normal;']],
    suites: ['test/store/durable.test.ts'],
  },
  {
    id: 'sqlite-never-syncs',
    hazard: 'On SQLite a power cut damages the file.',
    edits: [['configure', 'pragma synchronous = full;', 'pragma synchronous = off;']],
    suites: ['test/store/durable.test.ts'],
  },
  {
    id: 'sqlite-waits-on-the-loop',
    hazard: 'On SQLite a process that waits for the file stands still for seconds.',
    edits: [['openHandle', '{ timeout: 0, readOnly', '{ timeout: 5_000, readOnly']],
    suites: [conformance('SQLite file four processes that write')],
  },
  {
    id: 'sqlite-begins-as-a-reader',
    hazard: 'On SQLite two writers read first, and one of them fails when it wants to write.',
    edits: [['SqliteDatabase.#begin', "this.#handle.exec('begin immediate')", "this.#handle.exec('begin')"]],
    suites: [conformance('SQLite file (sixteen claimers|law 3: the ceiling)')],
  },
  {
    id: 'sqlite-integrity-unchecked',
    hazard: 'A file that a crash has damaged is worked on.',
    edits: [['setUp', 'await checkIntegrity(file)', '']],
    suites: ['test/store/sqlite/boot.test.ts'],
  },
  {
    id: 'sqlite-vanished-file-used',
    hazard: 'A worker writes on into a file that was deleted or replaced.',
    edits: [['FileWatch.refuseVanished', 'if (identityOf(file.path) !== file.identity) throw vanished(file.path)', '']],
    suites: ['test/store/sqlite/file-watch.test.ts'],
  },
  {
    id: 'sqlite-hears-nobody',
    hazard: 'On SQLite nobody notices what another process writes.',
    edits: [
      [
        'sqlite/listen.ts listen',
        'if (mark !== null && mark === before) return false',
        'if (mark !== null) return false',
      ],
    ],
    suites: ['test/store/sqlite/listen.test.ts'],
  },
  {
    id: 'postgres-commits-without-waiting',
    hazard: 'On PostgreSQL a crash of the server loses acknowledged work.',
    edits: [
      [
        'postgres/database.ts readCommitted',
        "const readCommitted = 'begin isolation level read committed'",
        "const readCommitted = 'begin isolation level read committed; set local synchronous_commit = off'",
      ],
    ],
    suites: ['test/store/durable.test.ts'],
  },
  {
    id: 'postgres-risks-accepted',
    hazard: 'A server that may lose acknowledged work is used without a word.',
    edits: [
      [
        'refuseUnfitServer',
        'if (risky.length > 0 && !options.allowNonDurable)',
        'if (risky.length < 0 && !options.allowNonDurable)',
      ],
    ],
    suites: ['test/store/postgres/boot.test.ts'],
  },
  {
    id: 'postgres-notifies-nobody',
    hazard: 'On PostgreSQL other processes are not told of new work.',
    edits: [['Wire.wakeOthers', 'this.#notifier.ring(news)', '']],
    suites: [conformance('PostgreSQL another store hears')],
  },
  {
    id: 'postgres-deafness-unnoticed',
    hazard: 'A listening connection that delivers nothing is believed for ever.',
    edits: [['Listener.#hearsPing', 'return this.#heardPing === ping && !isOver()', 'return ping > 0 && !isOver()']],
    suites: ['test/store/postgres/listen.test.ts'],
  },
  {
    id: 'postgres-conflict-not-repeated',
    hazard: 'Two steps that met are answered as a defect instead of being asked again.',
    edits: [
      [
        'PostgresDatabase.#again',
        'if (!isConflict(error) && !(error instanceof StepAgain)) throw error',
        'if (tries > 0) throw error',
      ],
    ],
    suites: ['test/store/statement.test.ts', 'test/store/interleaved.test.ts', 'test/store/cancel.test.ts'],
  },
  {
    id: 'reader-sees-half-a-step',
    hazard: 'On PostgreSQL what one look shows comes from several moments.',
    edits: [
      [
        'oneSnapshot',
        'begin isolation level repeatable read read only',
        'begin isolation level read committed read only',
      ],
    ],
    suites: ['test/store/interleaved.test.ts'],
  },
  {
    id: 'dead-by-pid-alone',
    hazard: 'A dead worker is taken for alive once its pid is given to another process.',
    edits: [['isProvenDead', 'return startOf(other.pid) !== other.startedAt', 'return startOf(other.pid) === null']],
    suites: ['test/store/process-identity.test.ts'],
  },
  {
    id: 'strangers-declared-dead',
    hazard: 'A worker of another container is declared dead because its pid is not seen here.',
    edits: [['isProvenDead', '|| other.pidNamespace !== own.pidNamespace', '']],
    suites: ['test/store/process-identity.test.ts'],
  },
  {
    id: 'password-in-the-place',
    hazard: 'The password of the database is shown wherever the store is named.',
    edits: [['postgres/open.ts withoutPassword', "shown.password = ''", "shown.password += ''"]],
    suites: ['test/store/postgres/boot.test.ts', 'test/store/open.test.ts'],
  },
  {
    id: 'sqlite-answers-before-the-commit',
    hazard: 'On SQLite a write is answered as done before its commit, which may still fail.',
    edits: [
      [
        'WriteQueue.#writeGroup',
        'if (done[0]?.write.isRehearsal) this.#writer.rollBack()',
        'for (const { write, result } of done) write.answer(result as never)\n      if (done[0]?.write.isRehearsal) this.#writer.rollBack()',
      ],
    ],
    suites: ['test/store/sqlite/commit.test.ts'],
  },
  {
    id: 'sqlite-failure-takes-others-along',
    hazard:
      'On SQLite a write that is refused takes those committed with it back, and they are told that they are done.',
    edits: [
      [
        'WriteQueue.#drive',
        'else this.#separate([...done.map((each) => each.write), write])',
        'else for (const each of [...done, { write, result: undefined }]) each.write.answer(each.result as never)',
      ],
    ],
    suites: ['test/store/sqlite/commit.test.ts'],
  },
  {
    id: 'sqlite-rehearsal-among-writes',
    hazard: 'On SQLite a rehearsal is committed with the writes of its turn, or takes them back.',
    edits: [['WriteQueue.add', 'isAlone: isRehearsal,', 'isAlone: false,']],
    suites: ['test/store/sqlite/commit.test.ts', conformance('memory: rehearsals among writes')],
  },
  {
    id: 'postgres-joins-whole-tables',
    hazard: 'On PostgreSQL a schedule that is paused reads all that is under way, for every run of its own.',
    edits: [['probed', ' offset 0) ', ') ']],
    suites: ['test/store/postgres/plans.test.ts'],
  },
  {
    id: 'postgres-looks-at-all-live-runs',
    hazard: 'On PostgreSQL every schedule that fires or ends is compared with the live runs of all others.',
    edits: [
      [
        'thereIs',
        'thereIs(from: string): string {\n  return `(',
        'thereIs(from: string): string {\n  return `exists (',
      ],
      ['thereIs', ' limit 1) is not null`', ')`'],
    ],
    suites: ['test/store/postgres/plans.test.ts'],
  },
  {
    id: 'ready-on-a-damaged-file',
    hazard: 'A server on a damaged SQLite file says that it is ready.',
    edits: [['HealthWatch.isReady', '(await this.#isSound())', 'true']],
    suites: ['test/store/sqlite/damage.test.ts'],
  },
  {
    id: 'damage-met-is-forgotten',
    hazard: 'A server that has met damage in a large SQLite file says that it is ready.',
    edits: [['SqliteDatabase.#explained', 'if (isDamage(told)) this.#damage ??= told', '']],
    suites: ['test/store/sqlite/damage.test.ts'],
  },
  {
    id: 'empty-file-is-a-new-store',
    hazard: 'A store that was truncated to 0 bytes is quietly made anew.',
    edits: [['prepareFile', '  refuseEmpty(file)\n', '']],
    suites: ['test/store/sqlite/damage.test.ts'],
  },
  {
    id: 'damage-is-unforeseen',
    hazard: 'The doctor ends with an error that nobody foresaw when it meets damage.',
    edits: [['sqliteCode', 'return codeOfSentence.get(error.message) ?? null', 'return null']],
    suites: ['test/store/sqlite/damage.test.ts'],
  },
  {
    id: 'log-deleted-unnoticed',
    hazard: 'A worker goes on writing to a log that was deleted under it.',
    edits: [['FileWatch.refuseVanished', 'if (lost !== undefined) throw vanishedBeside(file.path, lost.path)', '']],
    suites: ['test/store/sqlite/damage.test.ts'],
  },
]
