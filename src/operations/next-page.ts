import { limitDefault } from './fields/basic-fields.ts'

/** The cursor of the next page is the last item of a full page. */
export function behindLast<Item>(
  place: (last: Item) => Readonly<Record<string, unknown>>,
  lengthDefault = limitDefault,
) {
  return (items: readonly Item[], { limit = lengthDefault }: { readonly limit?: unknown }) => {
    const last = items.at(-1)
    return last === undefined || items.length < Number(limit) ? null : place(last)
  }
}
