const reasonLengthMax = 300

/**
 * Makes a text that came from outside fit to be a reason, which stands in one line of a log, a table or a terminal:
 * control characters would forge lines and colours there, and direction marks would reorder what stands beside them.
 */
export function reasonText(text: string, lengthMax = reasonLengthMax): string {
  // Cut before it is cleaned: the message of an error may be as long as memory allows.
  const line = text
    .slice(0, lengthMax * 4)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1).toWellFormed()}…`
}
