const headerDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
/** Two older date formats, which must be understood. The last one omits that it is GMT. */
const weekdayDate = /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
const plainDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/
const waitMsMax = 365 * 86_400_000

/** How long a server asks to wait: a number of seconds, or a date. `undefined` when it is neither. */
export function retryAfterMs(text: string, now: number): number | undefined {
  const written = text.trim()
  if (/^\d+$/.test(written)) return Math.min(Number(written) * 1_000, waitMsMax)
  const instant = instantOf(written)
  return Number.isNaN(instant) ? undefined : Math.min(Math.max(0, instant - now), waitMsMax)
}

function instantOf(written: string): number {
  if (headerDate.test(written) || weekdayDate.test(written)) return Date.parse(written)
  return plainDate.test(written) ? Date.parse(`${written} GMT`) : Number.NaN
}
