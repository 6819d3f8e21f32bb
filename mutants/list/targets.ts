import type { Mutant } from '../mutant.ts'

/** What runs outside of Belfry, and what must not leave it. */
export const targets: readonly Mutant[] = [
  {
    id: 'no-tether',
    hazard: 'Commands of a worker that was killed run on.',
    edits: [['start', 'await tether.hold(pid, killAfterMs)', 'await Promise.resolve(tether)']],
    suites: ['test/targets/command/tether.test.ts'],
  },
  {
    id: 'grandchildren-left',
    hazard: 'What a command started in the background outlives its run.',
    edits: [['attended', 'const isGone = await group.endRest()', 'const isGone = true']],
    suites: ['test/targets/command/stop.test.ts', 'test/targets/command/execute.test.ts'],
  },
  {
    id: 'stubborn-command-lives',
    hazard: 'A command that ignores the request to end is never killed.',
    edits: [['ProcessGroup.end', "() => this.#send('SIGKILL'))", '() => undefined)']],
    suites: ['test/targets/command/stop.test.ts'],
  },
  {
    id: 'leftovers-not-found',
    hazard: 'What a dead worker left running is not ended before its run is given out again.',
    edits: [['endLeftovers', 'if (bootedAt === null) return 0', 'if (bootedAt !== -1) return 0']],
    suites: ['test/targets/leftovers.test.ts'],
  },
  {
    id: 'older-process-ended',
    hazard: 'A process that was there before the attempt is ended as its leftover.',
    edits: [['leftover', 'startedAt < attempt.leasedAt - clockDifferenceMsMax ? null', 'startedAt < 0 ? null']],
    suites: ['test/targets/leftovers.test.ts'],
  },
  {
    id: 'environment-leaks',
    hazard: 'A command gets all of Belfry’s own environment, secrets included.',
    edits: [['environmentOf', 'for (const name of inherited)', 'for (const name of Object.keys(own))']],
    suites: ['test/targets/command/execute.test.ts'],
  },
  {
    id: 'secrets-shown',
    hazard: 'Secrets stand in outputs and results.',
    edits: [['redactor', 'if (readings.length === 0) return', 'if (readings.length >= 0) return']],
    suites: ['test/targets/redact.test.ts'],
  },
  {
    id: 'secret-cut-in-two-shown',
    hazard: 'A secret that comes in two pieces is shown.',
    edits: [
      [
        'Stream.#settledTo',
        'Math.min(...this.#readers.map((reader) => reader.openFrom), this.#readTo)',
        'this.#readTo',
      ],
    ],
    suites: ['test/targets/redact.test.ts'],
  },
  {
    id: 'beginning-of-a-secret-held-for-ever',
    hazard: 'The beginning of a secret and endless blanks fill the memory of a worker.',
    edits: [['Reader.#readSign', '      this.#letGo(place)\n', '']],
    suites: ['test/targets/redact.test.ts'],
  },
  {
    id: 'wrapped-secret-shown',
    hazard: 'A long secret leaves through base64 with line breaks.',
    edits: [['unbroken', 'if (isEscape || isBlank(code) || (wasEscape', 'if (isEscape || (wasEscape']],
    suites: ['test/targets/redact.test.ts'],
  },
  {
    id: 'dumped-secret-shown',
    hazard: 'A secret stands in the text column of a hex dump.',
    edits: [['Stream.add', 'this.#isToLineEnd ||= reader.toLineEnd', 'this.#isToLineEnd ||= false']],
    suites: ['test/targets/redact.test.ts'],
  },
  {
    id: 'secret-sent-elsewhere',
    hazard: 'Credentials follow a redirect to another origin.',
    edits: [
      ['redirected', 'const isElsewhere = url.origin !== request.url.origin', "const isElsewhere = url.origin === ''"],
    ],
    suites: ['test/targets/http/redirect.test.ts', 'test/targets/http/secret.test.ts'],
  },
  {
    id: 'guard-trusts-names',
    hazard: 'A name that leads to a forbidden address is called.',
    edits: [
      [
        'connect',
        'const refusal = route.guard.addressRefusal(url, address)',
        "const refusal = route.guard.addressRefusal(url, address === '' ? address : '8.8.8.8')",
      ],
      [
        'connect',
        'remoteAddress === undefined ? null : route.guard.addressRefusal(url, remoteAddress)',
        'null as string | null',
      ],
    ],
    suites: ['test/targets/http/guard.test.ts'],
  },
  {
    id: 'guard-trusts-redirects',
    hazard: 'A redirect leads to addresses that no target may call.',
    edits: [
      [
        'httpExecutor',
        'const calls = new Map',
        `const guard = networkGuard({ ...network, allowLoopback: true })
  const open = new Connections({ guard, lookup: sharedLookup(lookup) })
  const calls = new Map`,
      ],
      [
        'httpExecutor',
        '{ connections, resolver: secrets, messageOf, stop }',
        '{ connections, open, resolver: secrets, messageOf, stop }',
      ],
      [
        'CallContext',
        'readonly connections: Connections\n',
        'readonly connections: Connections\n  readonly open: Connections\n',
      ],
      [
        'Call.#answered',
        'await exchange(sent, connections, {',
        'await exchange(sent, this.#redirects.length === 0 ? connections : this.#context.open, {',
      ],
    ],
    suites: ['test/targets/http/guard.test.ts'],
  },
  {
    id: 'response-without-cap',
    hazard: 'A server that answers without an end fills the memory.',
    edits: [['keepBytesRange', 'default: 100 * 1_024', 'default: 100 * 1_024 * 1_024']],
    suites: ['test/targets/http/flood.test.ts'],
  },
]
