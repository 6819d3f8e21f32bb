/**
 * A text as it is told to whoever sent it: what a refusal says of a value must not be as long as the value. Its middle is
 * left out, because a sentence tells what is wrong at its end.
 */
export function bounded(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const tail = Math.floor(lengthMax / 4)
  return `${text.slice(0, lengthMax - tail - 1)}…${text.slice(text.length - tail)}`.toWellFormed()
}
