const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** What a secret's name must be, for those who refuse one. */
export const secretNameExpected = '1 to 64 of the characters A–Z, a–z, 0–9 and _, not beginning with a digit'

/** Also what keeps a name from leading out of the folder of secrets. */
export function isSecretName(name: unknown): name is string {
  return typeof name === 'string' && namePattern.test(name)
}

/** Deeper than any data that are kept. */
const levelsMax = 1_000

/** The names of the secrets that are referred to, at whatever depth: in an object whose only field is `secret`. */
export function secretsIn(value: unknown, level = 0): string[] {
  if (typeof value !== 'object' || value === null || level > levelsMax) return []
  const fields = Object.entries(value)
  const [name, inner] = fields[0] ?? []
  if (fields.length === 1 && name === 'secret') return [String(inner)]
  return fields.flatMap(([, field]) => secretsIn(field, level + 1))
}
