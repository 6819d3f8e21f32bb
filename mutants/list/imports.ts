import type { Mutant } from '../mutant.ts'

const crontab = 'test/parts/imports/crontab.test.ts'
const imported = 'test/parts/imports/import.test.ts'
const client = 'test/client/client.test.ts'
const server = 'test/doors/cli/server.test.ts'
const hooks = 'test/parts/routines/webhooks.test.ts'
const signature = 'test/parts/routines/webhook-signature.test.ts'

/** What comes in from elsewhere: files of other schedulers, answers of servers, and what strangers send. */
export const imports: readonly Mutant[] = [
  {
    id: 'tz-moves-calendars',
    hazard: 'A crontab that hands its commands a TZ starts them at other hours than cron did.',
    edits: [['settingRead', "if (name === 'CRON_TZ') {", "if (name.endsWith('TZ')) {"]],
    suites: [crontab],
  },
  {
    id: 'user-becomes-a-program',
    hazard: 'The users of a system crontab that is read without --system are started as programs.',
    edits: [['jobOf', "!system && user === 'root'", "!system && user === ''"]],
    suites: [crontab],
  },
  {
    id: 'typed-text-is-cut-off',
    hazard: 'A command that cron types something to is started without it, and nobody is told.',
    edits: [
      [
        'crontab-line.ts commandIn',
        "if (letter === '%' && !isEscaped) return null",
        "if (letter === '%' && !isEscaped) return plain",
      ],
    ],
    suites: [crontab],
  },
  {
    id: 'parked-entry-starts',
    hazard: 'Work that was set aside for a person elsewhere starts as soon as it is imported.',
    edits: [
      ['enqueueWithPast', 'return { parkedReason, attempts:', 'return { parkedReason: parkedReason && null, attempts:'],
    ],
    suites: [imported],
  },
  {
    id: 'moved-entry-is-other-work',
    hazard: 'A queue cannot be imported again once one of its entries has been tried there.',
    edits: [['refuseKnownKeys', 'hasPast ? withoutPlace(input)', 'hasPast && now < 0 ? withoutPlace(input)']],
    suites: [imported],
  },
  {
    id: 'redirect-is-followed',
    hazard: 'What is sent to a server goes to whoever the server leads to.',
    edits: [['redirect', "const redirect = 'manual'", "const redirect = 'follow'"]],
    suites: [client],
  },
  {
    id: 'lost-answer-is-no-write',
    hazard: 'A write whose answer is lost is told as never made, and whoever asks again makes it twice.',
    edits: [['BelfryClient.#reached', 'if (isWrite && !neverAsked.test(code))', "if (isWrite && code === '')"]],
    suites: [client, server],
  },
  {
    id: 'done-is-told-as-failed',
    hazard: 'A command that was done ends as a failure when the server is gone before all is told.',
    edits: [
      [
        'show-answer.ts besides',
        "if (operation.effect === 'read') throw error",
        "if (operation.effect !== 'read') throw error",
      ],
    ],
    suites: [server],
  },
  {
    id: 'program-of-the-server',
    hazard: 'The program of a routine that is named from afar is looked for where the server was started.',
    edits: [
      ['placedHere', 'isGiven(run) ? { ...given, run: placedIn(run, folder) }', 'isGiven(run) ? { ...given, run }'],
    ],
    suites: [server],
  },
  {
    id: 'token-passes-by-its-file',
    hazard: 'On PostgreSQL a token that is made while a file is applied keeps another scope than the file says.',
    edits: [['createToken', '  yield* lockManaged(context)\n', '']],
    suites: ['test/store/interleaved.test.ts'],
  },
  {
    id: 'unsigned-body-is-read',
    hazard: 'A stranger who signs nothing has a megabyte read and hashed for each request.',
    edits: [['Webhooks.#taken', 'if (!isSigned(headers)) throw', 'if (isSigned === null) throw']],
    suites: [hooks],
  },
  {
    id: 'secret-can-be-guessed',
    hazard: 'A webhook is believed for a secret of one byte.',
    edits: [['standard', 'key.length < standardKeyBytesMin', 'key.length < 1']],
    suites: [signature, hooks],
  },
  {
    id: 'refusal-sends-it-back',
    hazard: 'Whoever sends a megabyte of nonsense is sent two of them back.',
    edits: [['operations/input/refuse-input.ts told', 'field: bounded(field, fieldLengthMax)', 'field']],
    suites: ['test/operations/problem.test.ts'],
  },
  {
    id: 'nobody-hears-why',
    hazard: 'What goes wrong behind the HTTP door of a worker is told to nobody at all.',
    edits: [['doorOf', "events.tell('door.failed', {", 'Object.freeze({ events,']],
    suites: ['test/library/door-failed.test.ts'],
  },
]
