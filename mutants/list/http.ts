import type { Mutant } from '../mutant.ts'

const server = 'test/doors/http/server.test.ts'
const unknownFields = 'test/doors/unknown-fields.test.ts'

/** What one client of the HTTP door can do to the others. */
export const http: readonly Mutant[] = [
  {
    id: 'silent-connections-looked-at-rarely',
    hazard: 'A connection that says nothing keeps its place for 40 s, because the server looks every half minute only.',
    edits: [['serve', 'connectionsCheckingInterval: limits.checkMs', 'connectionsCheckingInterval: 30_000']],
    suites: [server],
  },
  {
    id: 'silent-connections-keep-others-out',
    hazard: 'As many silent connections as the server keeps shut the HTTP door for everybody.',
    edits: [
      [
        'Connections.#opened',
        'isFull ? (firstOf(this.#silent) ?? firstOf(this.#sending) ?? this.#firstStalled) : undefined',
        'isFull ? firstOf(new Set<Socket>()) : undefined',
      ],
    ],
    suites: [server],
  },
  {
    id: 'unread-answers-keep-others-out',
    hazard: 'As many clients as the server keeps connections ask and never read, and shut the HTTP door for everybody.',
    edits: [['Connections.#opened', ' ?? this.#firstStalled', '']],
    suites: [server],
  },
  {
    id: 'unread-answers-kept',
    hazard: 'An answer that its client never reads is kept for ever.',
    edits: [
      [
        'Connections.#quiet',
        '(isStalled && (wasStalled || !this.#open.has(socket)))',
        '(isStalled && !this.#open.has(socket))',
      ],
    ],
    suites: [server],
  },
  {
    id: 'waiting-taken-for-stalled',
    hazard: 'A long poll is cut off because nothing is sent while it waits.',
    edits: [['Connections.#quiet', 'this.#asked.get(socket) === 0', 'this.#asked.has(socket)']],
    suites: [server],
  },
  {
    id: 'any-number-of-requests-at-once',
    hazard: 'A client sends thousands of requests on one connection without waiting, and all are answered at once.',
    edits: [['Connections.#began', 'if (asked > this.#limits.pipelinedMax) this.#end(socket)', '']],
    suites: [server],
  },
  {
    id: 'no-room-for-health',
    hazard:
      'While every connection is being answered a health check finds the server shut, and a healthy one is restarted.',
    edits: [
      ['Connections.watch', 'this.#limits.connectionsMax + this.#limits.spareMax', 'this.#limits.connectionsMax'],
    ],
    suites: [server],
  },
  {
    id: 'every-unknown-field-searched',
    hazard:
      'One request with a megabyte of unknown fields stops the event loop for seconds, each being compared with every known one.',
    edits: [['NameSearch.nearest', '    this.#left -= 1\n', '']],
    suites: [unknownFields],
  },
  {
    id: 'wrong-list-read-to-its-end',
    hazard: 'A list of a hundred thousand runs that are all wrong is read to its end before it is refused.',
    edits: [['readList', 'if (problems.length < problemsMax) continue', 'if (problems.length >= 0) continue']],
    suites: [unknownFields],
  },
  {
    id: 'forged-megabyte-read-first',
    hazard: 'Each forged delivery of a flood is read to its last byte before it is counted.',
    edits: [
      [
        'Webhooks.#taken',
        'waitMs === 0 ? bytesOf(request) : bytesOf(request, smallOnly(waitMs))',
        'waitMs < 0 ? bytesOf(request, smallOnly(waitMs)) : bytesOf(request)',
      ],
    ],
    suites: ['test/parts/routines/webhooks-flood.test.ts'],
  },
]
