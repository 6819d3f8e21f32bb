// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const store = 'test/parts/routines/store.test.ts'
const hooks = 'test/parts/routines/webhooks.test.ts'
const signature = 'test/parts/routines/webhook-signature.test.ts'
const agents = 'test/parts/routines/mcp.test.ts'
const matcher = 'test/core/matcher.test.ts'

/** Events from outside: who is believed, what is made of them, and that it is made once. */
export const routines: readonly Mutant[] = [
  {
    id: 'delivery-makes-a-run-each-time',
    hazard: 'A sender that sends a delivery again, because the answer was lost, has its work done twice.',
    edits: [['fireRoutine', 'if (first !== undefined) return', 'if (first === null) return']],
    suites: [store, hooks],
  },
  {
    id: 'deliveries-do-not-wait-for-each-other',
    hazard:
      'On PostgreSQL two deliveries of one routine are judged beside each other, and one of them fails or makes a second run.',
    edits: [
      [
        'write-routine.ts lockNamed',
        'where ns = $1 and name = $2 and deleted_at is null for no key update',
        'where ns = $1 and name = $2 and deleted_at is null',
      ],
    ],
    suites: [store],
  },
  {
    id: 'disabled-routine-fires',
    hazard: 'A routine that somebody has disabled goes on making runs.',
    edits: [['fire-routine.ts decided', 'if (routine.disabled !== null) return', 'if (routine.name === null) return']],
    suites: [store, hooks],
  },
  {
    id: 'event-overwrites-the-given-payload',
    hazard: 'What an event says takes the place of what the operator wrote, and of where it came from.',
    edits: [
      ['handedOn', '    event: event.payload,\n', '    event: event.payload,\n    ...(event.payload as object),\n'],
    ],
    suites: [store],
  },
  {
    id: 'event-of-any-type-is-taken',
    hazard: 'A routine takes events of types that it does not name.',
    edits: [['typeDifference', 'type !== null && wanted.includes(type)', 'type !== null && wanted.length > 0']],
    suites: [matcher, store],
  },
  {
    id: 'null-matches-what-is-missing',
    hazard: 'A rule that wants null takes events that say nothing at all there.',
    edits: [['matcher.ts valueAt', "'value' in found ? found : null", "'value' in found ? found : { value: null }"]],
    suites: [matcher],
  },
  {
    id: 'unsigned-delivery-is-taken',
    hazard: 'Anybody who knows the name of a routine can make it do its work.',
    edits: [['Webhooks.#taken', 'if (!isGenuine({ headers', 'if (isGenuine === null && !isGenuine({ headers']],
    suites: [hooks],
  },
  {
    id: 'operator-goes-past-the-signature',
    hazard: 'A caller with operate hands a routine any event, as if its sender had signed it.',
    edits: [['refuseUnsigned', 'if (spec?.signing !== undefined) throw', 'if (spec === null) throw']],
    suites: [agents, hooks],
  },
  {
    id: 'agent-feeds-programs-by-routines',
    hazard:
      'An agent with operate chooses what a program reads, or what a request with a secret sends, by firing a routine.',
    edits: [['refuseUnsigned', "if (actor.door !== 'mcp' || ", "if (actor.door === 'mcp' || "]],
    suites: [agents],
  },
  {
    id: 'old-delivery-is-taken',
    hazard: 'A delivery that somebody kept is taken as new a year later.',
    edits: [['standard', '> toleranceMs) return false', '> toleranceMs * now) return false']],
    suites: [signature, hooks],
  },
  {
    id: 'id-is-not-signed',
    hazard: 'Whoever has a signed delivery sends it under as many ids as he likes.',
    edits: [['standard', '.update(`${id}.${timestamp}.`)', '.update(`${id.slice(0, 0)}.${timestamp}.`)']],
    suites: [signature],
  },
  {
    id: 'half-a-signature-is-enough',
    hazard: 'A signature is believed for its beginning.',
    edits: [
      [
        'webhook-signature.ts isSame',
        'return one.length === other.length && timingSafeEqual(one, other)',
        'return one.length > 0 && timingSafeEqual(one.subarray(0, 1), other.subarray(0, 1))',
      ],
    ],
    suites: [signature],
  },
  {
    id: 'sender-hears-of-the-secret',
    hazard: 'A stranger is told the name of a secret that is missing.',
    edits: [
      [
        'Webhooks.#keyOf',
        "      throw new BelfryError('unavailable', 'The signature cannot be checked now.', { hint: 'Send it again later.' })",
        '      throw error',
      ],
    ],
    suites: [hooks],
  },
  {
    id: 'hook-needs-the-right-page',
    hazard: 'A sender that names an origin is taken for a page of another site, and refused.',
    edits: [
      [
        'HttpDoor.fetch',
        'this.#gate.refuseStrangeOrigin(request, { isSigned })',
        'this.#gate.refuseStrangeOrigin(request, { isSigned: isSigned && false })',
      ],
    ],
    suites: [hooks],
  },
  {
    id: 'events-are-kept-for-ever',
    hazard: 'What came in is never removed, and fills the disk.',
    edits: [['routines/part.ts routines', '[sweepRoutineEvents, sweepRoutines]', '[sweepRoutines]']],
    suites: [store],
  },
]
