const reasonLengthMax = 300

/**
 * Makes untrusted text fit for a reason, which is shown in one line of a log, a table or a terminal: control characters would
 * forge lines and colours there, and direction marks would reorder the text beside them.
 */
export function reasonText(text: string, lengthMax = reasonLengthMax): string {
  // The text is cut before it is cleaned: an error message may be as long as memory allows.
  const line = text
    .slice(0, lengthMax * 4)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1).toWellFormed()}…`
}
