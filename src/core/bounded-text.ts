/** Shortens a value for an error message. The middle is left out, because a sentence says what is wrong at its end. */
export function bounded(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const tail = Math.floor(lengthMax / 4)
  return `${text.slice(0, lengthMax - tail - 1)}…${text.slice(text.length - tail)}`.toWellFormed()
}
