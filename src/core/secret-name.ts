const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

export const secretNameExpected = '1 to 64 of the characters A–Z, a–z, 0–9 and _, not beginning with a digit'

/** This also keeps a name from pointing outside the folder of secrets. */
export function isSecretName(name: unknown): name is string {
  return typeof name === 'string' && namePattern.test(name)
}

/** A depth that no stored data reach. */
const levelsMax = 1_000

/** The names of all referenced secrets, at any depth: an object whose only fields are `secret` and, optionally, `previous`. */
export function secretsIn(value: unknown, level = 0): string[] {
  if (typeof value !== 'object' || value === null || level > levelsMax) return []
  const fields = Object.entries(value)
  const [name, inner] = fields[0] ?? []
  if (fields.length === 1 && name === 'secret') return [String(inner)]
  const names = fields.map(([field]) => field).sort()
  if (names.join() === 'previous,secret') return fields.map(([, each]) => String(each))
  return fields.flatMap(([, field]) => secretsIn(field, level + 1))
}
