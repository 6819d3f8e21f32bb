/** A text as it may stand in a line for people: what could move a cursor, hide text or turn it is shown as its code. */
export function plainText(value: unknown): string {
  return String(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => {
    return `\\u{${found.codePointAt(0)?.toString(16)}}`
  })
}

/** The same, never so long that it hides what stands beside it. */
export function shortText(value: unknown, lengthMax: number): string {
  const characters = [...plainText(value)]
  return characters.length > lengthMax ? `${characters.slice(0, lengthMax).join('')}…` : characters.join('')
}
