import { z } from 'zod'
import { type CallerKind, callerKinds } from '../../core/caller.ts'
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
import { type AnswerOf, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { Sheet } from '../show.ts'
import { hashOfSecret, secretBytes, tokenText } from './token-secret.ts'

const tokenFields = {
  id: text('The id of the token.'),
  name: text('Its name, which is recorded with every change made with it.'),
  scope: z.enum(scopes).describe('What the token may do; each scope includes those before it.'),
  for: z.enum(callerKinds).describe('Who holds it: a person, or an agent, which may not do what only persons may.'),
  createdAt: instantOutput('When it was created.'),
  createdBy: text('The actor that created it.'),
  expiresAt: instantOutput('When it expires; null: never.').nullable(),
  revokedAt: instantOutput('When it was revoked.').nullable(),
  usedAt: instantOutput('When it was last used, to the hour.').nullable(),
  managedBy: text('The config source that sets its scope.').exactOptional(),
}

const tokenSaid = noted(z.strictObject(tokenFields).describe('An API token.'), { id: 'Token' })
/** A token, without its secret. */
export type Token = AnswerOf<typeof tokenSaid>

const doors: Doors = {
  library: true,
  cli: true,
  http: true,
  mcp: 'A model cannot create or revoke API tokens.',
}

const create = operation({
  noun: 'token',
  verb: 'create',
  persons: true,
  method: 'POST',
  says: 'Create a token and print its secret once.',
  request: 'a token',
  effect: 'write',
  scope: 'admin',
  input: z.strictObject({
    name: newName.describe('The name of the token, which is recorded with every change made with it.'),
    scope: z
      .enum(scopes)
      .describe(
        'What the token may do; each scope includes those before it. Default: the scope that a config file sets for the name, else read.',
      )
      .optional(),
    for: z
      .enum(callerKinds)
      .describe('Who holds it. An agent may not do what only persons may, whatever its scope. Default: person.')
      .optional(),
    ...durationFields('expires', 'How long the token is valid. Default: without end.'),
  }),
  takes: ['name'],
  output: z.strictObject({
    token: text('The secret. It is not stored and cannot be shown again.'),
    ...tokenFields,
  }),
  errors: ['invalid', 'conflict'],
  doors,
  // The secret is alone on its line, so that it can be copied or piped.
  show({ token: secret, name: made, scope: may, for: holder, expiresAt }, { relative }) {
    const until = expiresAt === null ? '' : `, until ${relative(expiresAt)}`
    const owner = holder === 'agent' ? ' of an agent' : ''
    return `${secret}\n  token ${plainText(made)}${owner} has the scope ${may}${until}. The secret cannot be shown again.`
  },
  examples: [
    { name: 'builder' },
    { name: 'ci', scope: 'operate', expires: '90d' },
    { name: 'reviewer', scope: 'operate', for: 'agent' },
  ],
  async judge(context, { value, problems: found }) {
    const problems: Problem[] = [...found]
    const expiresMs = durationOf(value, 'expires', problems)
    if (expiresMs !== undefined && (expiresMs < 1_000 || expiresMs > durationMsMax)) {
      problems.push({ field: 'expires', problem: `is ${expiresMs} ms`, expected: 'a duration of 1s to 36500d' })
    }
    refuse('The token', problems)
    const { store, actor, randomHex } = context
    const { name: wanted, scope: given, for: holder = 'person' } = value as Wanted
    const scope = given ?? (await store.look(configuredScope, wanted))?.scope ?? 'read'
    const secret = randomHex(secretBytes)
    const expiresAt = expiresMs === undefined ? {} : { expiresAt: (await store.look(clockNow)) + expiresMs }
    const written = await store.do(
      createToken,
      { name: wanted, hash: hashOfSecret(secret), scope, for: holder, ...expiresAt },
      { actor },
    )
    if (written.answer === 'exists') throw taken(wanted)
    return { token: tokenText({ id: written.token.id, secret }), ...tokenOf(written.token) }
  },
})

interface Wanted {
  readonly name: string
  readonly scope?: Scope
  readonly for?: CallerKind
}

const list = operation({
  noun: 'token',
  verb: 'list',
  method: 'GET',
  says: 'List tokens by name, a page at a time; on the first page, revoked tokens follow.',
  request: 'a list of tokens',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    after: z.string().describe('The last name of the previous page; for revoked tokens the last id.').optional(),
    limit: limit.optional(),
    revoked: z.boolean().describe('List only revoked tokens, newest first. Default: false.').optional(),
  }),
  takes: [],
  output: z.array(tokenSaid),
  errors: ['invalid'],
  doors,
  show: {
    none: ({ command }) => `No tokens. Create one: ${command('token', 'create', 'NAME')}`,
    columns: [
      ['NAME', 'name', 'name'],
      ['MAY', 'scope', 'text'],
      ['FOR', 'for', 'text'],
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
  persons: true,
  idempotent: true,
  says: 'Revoke a token.',
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
  show: ({ name: revoked }) => `revoked token ${plainText(revoked)}`,
  examples: [{ name: 'builder' }],
  async run({ store, actor }, { name: given }) {
    if ((await store.do(revokeToken, given, { actor })) === 'revoked')
      return { name: given, answer: 'revoked' as const }
    throw new BelfryError('not-found', `No active token is named ${quoted(given)}.`, {
      hint: 'List the tokens with `belfry token list`.',
      details: { token: given },
    })
  },
})

function tokenOf({ scope, ...token }: TokenView): Token {
  // A stored scope that cannot be read counts as the smallest.
  return { ...token, scope: scopes.find((known) => known === scope) ?? 'read' }
}

function taken(given: string): BelfryError {
  return new BelfryError('conflict', `A token named ${quoted(given)} exists already, and its secret is not stored.`, {
    hint: 'Choose another name, or revoke that token first.',
    details: { token: given },
  })
}

function standing({ revokedAt, expiresAt }: Token, { now, paint, relative }: Sheet): string {
  if (revokedAt !== null) return paint.dim(`revoked ${relative(revokedAt)}`)
  if (expiresAt === null) return paint.green('good')
  if (expiresAt <= now) return paint.red(`expired ${relative(expiresAt)}`)
  return paint.green(`active, expires ${relative(expiresAt)}`)
}

export const tokenOperations = {
  create,
  list,
  revoke,
}
