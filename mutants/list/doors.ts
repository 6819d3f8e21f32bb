// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

const sched = 'test/parts/hosts/sched.test.ts'
const gate = 'test/doors/http/authenticator.test.ts'
const mcp = 'test/doors/mcp/server.test.ts'
const confirm = 'test/doors/mcp/confirm.test.ts'
const fencing = 'test/doors/mcp/fencing.test.ts'

/** Outside hosts, and who is let in at the doors. */
export const doors: readonly Mutant[] = [
  {
    id: 'agent-says-go',
    hazard: 'A model with a token of its own starts what a person has stopped.',
    edits: [
      [
        'operations/operation.ts operation',
        "entry.persons === true && callerKind(context.actor) === 'agent'",
        'entry.persons === null',
      ],
    ],
    suites: ['test/operations/who-asks.test.ts'],
  },
  {
    id: 'agent-token-is-a-person',
    hazard: 'The token of an agent counts as that of a person.',
    edits: [['Authenticator.#known', 'kind: found.for', "kind: 'person'"]],
    suites: ['test/operations/who-asks.test.ts'],
  },
  {
    id: 'anybody-ends-a-lease',
    hazard:
      'Whoever knows the run and the number of a lease can end it, without the claim that only its holder was told.',
    edits: [['holdingsOf', 'if (run.claimId !== parts.claimId) return', 'if (run.claimId === "") return']],
    suites: [sched],
  },
  {
    id: 'request-key-grants-again',
    hazard: 'A host that asks again because the answer was lost is granted more runs, and nobody does the first ones.',
    edits: [['leaseToHost', 'if (!isNew) return yield* repeated', 'if (isNew === null) return yield* repeated']],
    suites: [sched, conformance('a request with a key')],
  },
  {
    id: 'key-granted-nothing-is-used-up',
    hazard: 'A host that found nothing and asks again with its key never gets anything.',
    edits: [
      [
        'lease-to-host.ts keep',
        'if (leases.length === 0) return yield* run(forgetKey, ns, key)',
        'if (leases.length < 0) return yield* run(forgetKey, ns, key)',
      ],
    ],
    suites: [conformance('memory: a repeated request')],
  },
  {
    id: 'drain-leaves-its-leases',
    hazard: 'What was drained is leased still, and goes to somebody else when its lease expires.',
    edits: [
      [
        'drainQueue',
        'leases.map(({ runId, fence, scheduleId, isBudgeted = false })',
        'leases.slice(1).map(({ runId, fence, scheduleId, isBudgeted = false })',
      ],
    ],
    suites: [sched, conformance('memory: a drain')],
  },
  {
    id: 'other-place-not-in-the-definition',
    hazard: 'A run with another priority is looked for at its old place, and can be neither cancelled nor held.',
    edits: [['reprioritiseRun', 'yield* run(redefine, id, priority)', 'yield* run(redefine, id, before)']],
    suites: [conformance('memory: a (run|parked run) (gets|that got) another place'), sched],
  },
  {
    id: 'other-place-in-the-same-row',
    hazard:
      'On PostgreSQL a run that gets another priority beside a claim is leased and stays in line, to be leased again.',
    edits: [
      [
        'reprioritise-run.ts leaveLine',
        '`delete from belfry.ready',
        '`update belfry.ready set priority = cast($6 as int)',
      ],
      [
        'move',
        'one(leaveLine, queueId, needId, before, enqueuedAt, runId)',
        'one(leaveLine, queueId, needId, before, enqueuedAt, runId, priority)',
      ],
      ['move', 'yield* putInLine([{ ...readyRowOf(inLine), priority }])', ''],
    ],
    suites: ['test/store/postgres/lease-at-once.test.ts'],
  },
  {
    id: 'other-place-leaves-its-gate',
    hazard: 'A run that was moved before the one of its key that stands in line goes after it all the same.',
    edits: [
      [
        'reprioritiseRun',
        'for (const gate of gates) yield* regateLocked(gate)',
        'for (const gate of gates.slice(1)) yield* regateLocked(gate)',
      ],
    ],
    suites: [conformance('memory: a run gets another place')],
  },
  {
    id: 'claim-is-shown-with-its-run',
    hazard: 'Whoever may look at runs reads there what ends their leases.',
    edits: [
      [
        'run-answer.ts leaseOf',
        'function leaseOf({ claimId: _, ...lease }: LeaseView): RunLease {\n  return lease',
        'function leaseOf({ claimId: _, ...lease }: LeaseView): RunLease {\n  return { ...lease, claimId: _ } as RunLease',
      ],
    ],
    suites: ['test/operations/answers.test.ts'],
  },
  {
    id: 'token-secret-is-not-looked-at',
    hazard: 'Whoever can guess the id of a token is let in with it.',
    edits: [
      [
        'Authenticator.#known',
        'found === null || !isSecretOf(parts.secret, found.hash)',
        'found === null || !isSecretOf',
      ],
    ],
    suites: [gate],
  },
  {
    id: 'revoked-token-lets-in',
    hazard: 'A token that was revoked lets its holder in as before.',
    edits: [['Authenticator.#known', 'if (found.revokedAt !== null) return', 'if (found.revokedAt === 0) return']],
    suites: [gate],
  },
  {
    id: 'expired-token-lets-in',
    hazard: 'A token lets its holder in after its time.',
    edits: [['Authenticator.#known', 'found.expiresAt <= found.now', 'found.expiresAt < 0']],
    suites: [gate],
  },
  {
    id: 'any-host-is-answered',
    hazard: 'A name that was made to point to this machine brings the browser of a visitor to the door.',
    edits: [
      [
        'Authenticator.refuseStrangeOrigin',
        'if (hosts !== undefined && !hosts.includes(host)) {',
        'if (hosts !== undefined && hosts.includes("")) {',
      ],
    ],
    suites: [gate],
  },
  {
    id: 'any-page-may-ask',
    hazard: 'A page of somebody else asks with the rights of whoever looks at it.',
    edits: [
      [
        'Authenticator.refuseStrangeOrigin',
        'if (origin !== null && hostOf(origin) !== host) {',
        'if (origin !== null && hostOf(origin) === "") {',
      ],
    ],
    suites: [gate],
  },
  {
    id: 'scope-is-not-looked-at',
    hazard: 'Whoever has any token may do anything.',
    edits: [
      ['reaches', 'scopes.indexOf(has) >= scopes.indexOf(needs)', 'scopes.indexOf(has) >= 0 * scopes.indexOf(needs)'],
    ],
    suites: [gate],
  },
  {
    id: 'verbs-ask-for-no-scope',
    hazard: 'A verb does what it is asked for, whatever its caller may do.',
    edits: [
      [
        'operations/operation.ts operation',
        'refuseBeyondScope(context, { ...entry, input: schema }, input)',
        'void refuseBeyondScope',
      ],
    ],
    suites: [gate],
  },
  {
    id: 'programs-need-no-admin',
    hazard: 'Whoever may operate can have any program started on the workers.',
    edits: [
      [
        'operations/caller-scope.ts scopeOf',
        "adminForCommands === true && targetsIn(schema, input).some(isForAdmins) ? 'admin' : scope",
        'adminForCommands === undefined && targetsIn(schema, input).some(isForAdmins) ? "admin" : scope',
      ],
    ],
    suites: [gate, mcp],
  },
  {
    id: 'confirm-is-for-any-call',
    hazard: 'A model that was asked to confirm one thing can do another with it.',
    edits: [['Confirmations.#sign', '.update(`${until}\\n${call}`)', '.update(`${until}\\n${call.length * 0}`)']],
    suites: [mcp],
  },
  {
    id: 'confirm-is-good-twice',
    hazard: 'What was confirmed once is done again without another word.',
    edits: [['Confirmations.accepts', '    this.#used.set(signature, until)\n', '']],
    suites: [confirm],
  },
  {
    id: 'confirm-is-good-again-with-zeros',
    hazard: 'A confirmation that was used is accepted again with zeros before it.',
    edits: [
      ['Confirmations.accepts', '/^([1-9a-z][0-9a-z]{0,11})-', '/^([0-9a-z]{1,12})-'],
      ['Confirmations.accepts', 'this.#used.has(signature)', 'this.#used.has(word)'],
      ['Confirmations.accepts', 'this.#used.set(signature, until)', 'this.#used.set(word, until)'],
    ],
    suites: [confirm],
  },
  {
    id: 'confirm-never-expires',
    hazard: 'A confirmation that a model was given long ago is still good.',
    edits: [['Confirmations.accepts', '!(until >= now) || ', '']],
    suites: [confirm],
  },
  {
    id: 'strangers-speak-to-models',
    hazard: 'A model reads outputs, reasons and descriptions of others as if Belfry had said them.',
    edits: [
      ['model-answer.ts factsOf', "if (type === 'string' && isLabel(place.field, value))", "if (type === 'string')"],
    ],
    suites: [fencing],
  },
  {
    id: 'strangers-are-not-fenced',
    hazard: 'What others wrote stands behind an answer without a fence, so that it can go on in the voice of a person.',
    edits: [['Texts.fenced', 'fence(JSON.stringify(this.#texts))', 'JSON.stringify(this.#texts)']],
    suites: [fencing],
  },
  {
    id: 'names-hide-characters-from-people',
    hazard: 'A model reads characters in a name that the person beside it cannot see.',
    edits: [['fence', 'const body = visible(text)\n  const mark', 'const body = text\n  const mark']],
    suites: [fencing],
  },
  {
    id: 'orders-stand-as-names',
    hazard: 'A schedule whose name is an order gives it to every model that lists schedules.',
    edits: [['label.ts isPlain', '(isShort(text) || cronLine.test(text))', '!/[\\n\\r]/.test(text)']],
    suites: [fencing],
  },
  {
    id: 'refusals-quote-names',
    hazard: 'A refusal or its hint quotes a name that is an order outside the fence.',
    edits: [['withoutForeign', '.filter(([found]) => !isPlain(found.slice(1, -1)))', '.slice(0, 0)']],
    suites: [fencing],
  },
  {
    id: 'selectors-hide-messages-in-a-fence',
    hazard: 'A message in variation selectors passes the fence unseen.',
    edits: [['unsafe', '\\\\u{E0000}-\\\\u{E0FFF}', '\\\\u{E0000}-\\\\u{E007F}']],
    suites: ['test/core/untrusted-text.test.ts'],
  },
  {
    id: 'refusals-quote-strangers',
    hazard: 'A refusal quotes what a failed program said outside the fence.',
    edits: [['model-refusal.ts unquoted', 'const foreign = foreignIn(details, code)', 'const foreign: string[] = []']],
    suites: [fencing],
  },
  {
    id: 'agent-leases-work-of-workers',
    hazard: 'An agent with operate leases runs that have a handler, and reports them as done.',
    edits: [['beyondScope', 'fields.length === 0 ? null', 'fields.length >= 0 ? null']],
    suites: ['test/doors/mcp/leases.test.ts'],
  },
  {
    id: 'agent-ends-leases-of-workers',
    hazard: 'An agent with operate ends the run of a worker by a lease id that it has read somewhere.',
    edits: [['holdingsOf', 'if (await isForWorkers(context, parts))', 'if (parts.fence < 0)']],
    suites: ['test/doors/mcp/leases.test.ts'],
  },
  {
    id: 'events-pass-open-transactions',
    hazard: 'A reader of events passes by what a transaction that is still open will write into the past.',
    edits: [
      [
        'listEvents',
        '(openAt as number | null) ?? Number.POSITIVE_INFINITY',
        'openAt === -1 ? 0 : Number.POSITIVE_INFINITY',
      ],
    ],
    suites: [conformance('PostgreSQL a reader that follows')],
  },
  {
    id: 'events-of-one-instant-are-cut',
    hazard: 'Of many that happen in one instant a reader hears the first page, and never the rest.',
    edits: [
      [
        'list-events.ts startOf',
        'return rank > own ? [at + 1, -1, -1] : [at, number, fence]',
        'return rank >= own ? [at + 1, -1, -1] : [at, number, fence]',
      ],
    ],
    suites: [conformance('memory: what has happened')],
  },
  {
    id: 'changes-are-not-written-down',
    hazard: 'Nobody can tell who cancelled a run.',
    edits: [
      [
        'audited',
        "if (effect === 'read' || actor.door === 'library') return context",
        "if (effect !== 'read' || actor.door === 'library') return context",
      ],
    ],
    suites: ['test/operations/audited.test.ts'],
  },
  {
    id: 'operator-fills-a-secret-request',
    hazard: 'An operate token changes the payload of a stored request that carries a secret.',
    edits: [
      [
        'refuseOtherPayload',
        'if (isAdmin(scope) || secrets.length === 0) return',
        'if (isAdmin(scope) || secrets.length >= 0) return',
      ],
    ],
    suites: [gate],
  },
  {
    id: 'operator-edits-a-secret-payload',
    hazard: 'An operate token that may not run a request with another payload stores another payload instead.',
    edits: [
      [
        'commit',
        'if (before !== null && isOtherPayload(before.spec, spec))',
        'if (before === null && isOtherPayload(spec, spec))',
      ],
    ],
    suites: [gate],
  },
]
