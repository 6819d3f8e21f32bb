const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** What a secret's name must be, for those who refuse one. */
export const secretNameExpected = '1 to 64 of the characters A–Z, a–z, 0–9 and _, not beginning with a digit'

/** Also what keeps a name from leading out of the folder of secrets. */
export function isSecretName(name: unknown): name is string {
  return typeof name === 'string' && namePattern.test(name)
}
