import type { AnyOperation } from '../../operations/operation.ts'

/** The page size for a model that gives no limit. */
export const shortPageMax = 20

export function isPaged({ nextPage, input }: AnyOperation): boolean {
  return nextPage !== undefined && 'limit' in input.shape
}

export function shortPage(operation: AnyOperation): { readonly limit?: number } {
  return isPaged(operation) ? { limit: shortPageMax } : {}
}
