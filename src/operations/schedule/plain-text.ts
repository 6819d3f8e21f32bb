/** A text that is safe in a line of output: characters that move the cursor, hide text or reverse it are shown as codes. */
export function plainText(value: unknown): string {
  return String(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => {
    return `\\u{${found.codePointAt(0)?.toString(16)}}`
  })
}

/** The same, cut to a length. */
export function shortText(value: unknown, lengthMax: number): string {
  const characters = [...plainText(value)]
  return characters.length > lengthMax ? `${characters.slice(0, lengthMax).join('')}…` : characters.join('')
}
