import type { AnyOperation } from '../../operations/operation.ts'

/** As many items of a list as a model is answered, unless it says how many. */
export const shortPageMax = 20

export function isPaged({ nextPage, input }: AnyOperation): boolean {
  return nextPage !== undefined && 'limit' in input.shape
}

/** What a call of a list asks for where it does not say how much. */
export function shortPage(operation: AnyOperation): { readonly limit?: number } {
  return isPaged(operation) ? { limit: shortPageMax } : {}
}
