/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values) {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The smallest value that at least this share of all values does not exceed. */
export function percentile(values, share) {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
}

export function percentiles(values) {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99), count: values.length }
}

/** Field by field the median over rounds: a round disturbed by something else does not speak for all. */
export function medianOf(rounds) {
  const fields = Object.keys(rounds[0] ?? {}).filter((field) => typeof rounds[0][field] === 'number')
  return Object.fromEntries(fields.map((field) => [field, median(rounds.map((round) => round[field]))]))
}

/** A number as people read it: whole above a hundred, three digits that mean something below. */
export function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

export function times(ratio) {
  return ratio === null || !Number.isFinite(ratio) ? '–' : `${shown(ratio)} ×`
}
