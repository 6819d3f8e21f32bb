import { z } from 'zod'
import { durationMsMax } from '../../core/duration.ts'
import { BelfryError } from '../../core/error.ts'
import { clockNow } from '../../store/statement.ts'
import { configuredScope, listTokens } from '../../store/tokens/find-token.ts'
import type { TokenView } from '../../store/tokens/token-steps.ts'
import { createToken, revokeToken } from '../../store/tokens/write-token.ts'
import { type Scope, scopes } from '../caller-scope.ts'
import { limit, limitDefault, name, newName } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { durationFields, durationOf } from '../input/duration-input.ts'
import { type Problem, quoted, refuse } from '../input/refuse-input.ts'
import { behindLast } from '../next-page.ts'
import { type Doors, operation } from '../operation.ts'
import { plainText } from '../schedule/plain-text.ts'
import { instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { Sheet } from '../show.ts'
import { hashOfSecret, secretBytes, tokenText } from './token-secret.ts'

/** A token, without what lets its holder in. */
export interface Token extends Omit<TokenView, 'scope'> {
  readonly scope: Scope
}

const tokenFields = {
  id: text('The id of the token.'),
  name: text('Its name, which stands beside everything that is done with it.'),
  scope: z.enum(scopes).describe('What its holder may do; each includes those before it.'),
  createdAt: instantOutput('When it was made.'),
  createdBy: text('Who made it.'),
  expiresAt: instantOutput('Until when it lets anybody in; null: for good.').nullable(),
  revokedAt: instantOutput('When it was revoked.').nullable(),
  usedAt: instantOutput('When it was last used, to the hour.').nullable(),
  managedBy: text('The source whose file says its scope.').exactOptional(),
}

const tokenSaid = noted(
  outputOf<Token>()(z.strictObject(tokenFields).describe('What lets somebody in at the doors of a server.')),
  { id: 'Token' },
)

const doors: Doors = {
  library: true,
  cli: true,
  http: true,
  mcp: 'A model does not hand out rights.',
}

const create = operation({
  noun: 'token',
  verb: 'create',
  method: 'POST',
  says: 'Makes a token and tells its secret, this once.',
  request: 'a token',
  effect: 'write',
  scope: 'admin',
  input: z.strictObject({
    name: newName.describe('Names it: it stands beside everything that is done with it.'),
    scope: z
      .enum(scopes)
      .describe('What its holder may do; each includes those before it. Default: what a file says of it, else read.')
      .optional(),
    ...durationFields('expires', 'After how long it lets nobody in any more. Default: never.'),
  }),
  takes: ['name'],
  output: outputOf<Token & { readonly token: string }>()(
    z.strictObject({ token: text('The token itself. It is not kept, and never told again.'), ...tokenFields }),
  ),
  errors: ['invalid', 'conflict'],
  doors,
  // The secret alone on its line, so that it can be copied or piped.
  show({ token: secret, name: made, scope: may, expiresAt }, { relative }) {
    const until = expiresAt === null ? '' : `, until ${relative(expiresAt)}`
    return `${secret}\n  token ${plainText(made)} may ${may}${until}. It is shown this once.`
  },
  examples: [{ name: 'builder' }, { name: 'ci', scope: 'operate', expires: '90d' }],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const expiresMs = durationOf(value, 'expires', problems)
    if (expiresMs !== undefined && (expiresMs < 1_000 || expiresMs > durationMsMax)) {
      problems.push({ field: 'expires', problem: `is ${expiresMs} ms`, expected: 'a duration of 1s to 36500d' })
    }
    refuse('The token', problems)
    const { store, actor, randomHex } = context
    const { name: wanted, scope: given } = value as { name: string; scope?: Scope }
    const scope = given ?? (await store.look(configuredScope, wanted))?.scope ?? 'read'
    const secret = randomHex(secretBytes)
    const expiresAt = expiresMs === undefined ? {} : { expiresAt: (await store.look(clockNow)) + expiresMs }
    const written = await store.do(
      createToken,
      { name: wanted, hash: hashOfSecret(secret), scope, ...expiresAt },
      { actor },
    )
    if (written.answer === 'exists') throw taken(wanted)
    return { token: tokenText({ id: written.token.id, secret }), ...tokenOf(written.token) }
  },
})

const list = operation({
  noun: 'token',
  verb: 'list',
  method: 'GET',
  says: 'Lists tokens by name, a page at a time, then on the first page those that were revoked; their secrets nobody knows.',
  request: 'a list of tokens',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    after: z.string().describe('The last name of the page before; of revoked ones the last id.').optional(),
    limit: limit.optional(),
    revoked: z
      .boolean()
      .describe('Whether those that were revoked are listed, newest first, and no others. Default: false.')
      .optional(),
  }),
  takes: [],
  output: z.array(tokenSaid),
  errors: ['invalid'],
  doors,
  show: {
    none: ({ command }) => `No tokens. Make one: ${command('token', 'create', 'NAME')}`,
    columns: [
      ['NAME', 'name', 'name'],
      ['MAY', 'scope', 'text'],
      ['STANDS', standing],
      ['MADE', 'createdAt', 'when'],
      ['BY', 'createdBy', 'text'],
      ['USED', ({ usedAt }, { relative }) => (usedAt === null ? 'never' : relative(usedAt))],
    ],
  },
  examples: [{}, { after: 'builder', limit: 20 }, { revoked: true }],
  nextPage: behindLast<Token>(({ id, name: last, revokedAt }) =>
    revokedAt === null ? { after: last } : { after: id, revoked: true },
  ),
  run: async ({ store }, page) =>
    (await store.look(listTokens, { limit: limitDefault, ...onlyGiven(page) })).map(tokenOf),
})

const revoke = operation({
  noun: 'token',
  verb: 'revoke',
  idempotent: true,
  says: 'Lets nobody in with a token any more, from now on.',
  request: 'a revocation',
  effect: 'destructive',
  scope: 'admin',
  input: z.strictObject({ name: name.describe('The name of the token.') }),
  takes: ['name'],
  output: z.strictObject({
    name: text('The name of the token.'),
    answer: z.literal('revoked').describe('Always revoked.'),
  }),
  errors: ['invalid', 'not-found'],
  doors,
  show: ({ name: revoked }) => `revoked token ${plainText(revoked)}: it lets nobody in any more`,
  examples: [{ name: 'builder' }],
  async run({ store, actor }, { name: given }) {
    if ((await store.do(revokeToken, given, { actor })) === 'revoked')
      return { name: given, answer: 'revoked' as const }
    throw new BelfryError('not-found', `There is no token ${quoted(given)} that lets anybody in.`, {
      hint: 'The list of tokens tells those that do.',
      details: { token: given },
    })
  },
})

function tokenOf({ scope, ...token }: TokenView): Token {
  // What cannot be read lets nobody do more than look.
  return { ...token, scope: scopes.find((known) => known === scope) ?? 'read' }
}

function taken(given: string): BelfryError {
  return new BelfryError('conflict', `There is a token ${quoted(given)} already, and its secret is not kept.`, {
    hint: 'Choose another name, or revoke it first.',
    details: { token: given },
  })
}

function standing({ revokedAt, expiresAt }: Token, { now, paint, relative }: Sheet): string {
  if (revokedAt !== null) return paint.dim(`revoked ${relative(revokedAt)}`)
  if (expiresAt === null) return paint.green('good')
  if (expiresAt <= now) return paint.red(`expired ${relative(expiresAt)}`)
  return paint.green(`good, expires ${relative(expiresAt)}`)
}

/** The verbs of a token. */
export const tokenOperations = {
  create,
  list,
  revoke,
}
