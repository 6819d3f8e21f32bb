import { plainText } from '../../../operations/schedule/plain-text.ts'
import type { Token } from '../../../operations/token/token.ts'
import { columns } from '../columns.ts'
import { commandFor, type Sheet } from '../sheet.ts'
import { relative, when } from '../when.ts'

/** The secret alone on its line, so that it can be copied or piped. */
export function showTokenMade(
  { token, name, scope, expiresAt }: Token & { readonly token: string },
  { now }: Sheet,
): string {
  const until = expiresAt === null ? '' : `, until ${relative(expiresAt, now)}`
  return `${token}\n  token ${plainText(name)} may ${scope}${until}. It is shown this once.`
}

export function showTokens(tokens: readonly Token[], sheet: Sheet): string {
  const { now, zone, paint } = sheet
  if (tokens.length === 0) return `No tokens. Make one: ${commandFor(sheet, 'token', 'create', 'NAME')}`
  const rows = tokens.map((token) => [
    paint.bold(plainText(token.name)),
    token.scope,
    standing(token, sheet),
    when(token.createdAt, { now, zone }),
    plainText(token.createdBy),
    token.usedAt === null ? 'never' : relative(token.usedAt, now),
  ])
  return columns(['NAME', 'MAY', 'STANDS', 'MADE', 'BY', 'USED'], rows)
}

function standing({ revokedAt, expiresAt }: Token, { now, paint }: Sheet): string {
  if (revokedAt !== null) return paint.dim(`revoked ${relative(revokedAt, now)}`)
  if (expiresAt === null) return paint.green('good')
  return expiresAt <= now
    ? paint.red(`expired ${relative(expiresAt, now)}`)
    : paint.green(`good, expires ${relative(expiresAt, now)}`)
}

export function showRevoked({ name }: { readonly name: string }): string {
  return `revoked token ${plainText(name)}: it lets nobody in any more`
}
