/** A set of the numbers 0 to 59 as bits, in two words because JavaScript shifts work on 32 bits. */
export interface Mask {
  readonly low: number
  readonly high: number
}

export function maskOf(values: Iterable<number>): Mask {
  let low = 0
  let high = 0
  for (const value of values) {
    if (value < 32) low |= 1 << value
    else high |= 1 << (value - 32)
  }
  return { low, high }
}

export function valuesOf({ low, high }: Mask): number[] {
  const values: number[] = []
  for (let value = 0; value < 32; value++) if ((low >>> value) & 1) values.push(value)
  for (let value = 32; value < 64; value++) if ((high >>> (value - 32)) & 1) values.push(value)
  return values
}

/** The smallest member not below `from` (0 to 63), or -1. */
export function memberAtOrAfter({ low, high }: Mask, from: number): number {
  if (from < 32) {
    const rest = low & (-1 << from)
    if (rest !== 0) return lowestBit(rest)
    return high === 0 ? -1 : 32 + lowestBit(high)
  }
  const rest = high & (-1 << (from - 32))
  return rest === 0 ? -1 : 32 + lowestBit(rest)
}

/** The largest member not above `from` (-1 to 63), or -1. */
export function memberAtOrBefore({ low, high }: Mask, from: number): number {
  if (from < 0) return -1
  if (from >= 32) {
    const rest = high & (-1 >>> (63 - from))
    if (rest !== 0) return 32 + highestBit(rest)
    return highestBit(low)
  }
  return highestBit(low & (-1 >>> (31 - from)))
}

export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}

/** The index of the highest bit, or -1 for the empty word. */
export function highestBit(word: number): number {
  return 31 - Math.clz32(word)
}
