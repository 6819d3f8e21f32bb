import type { Show } from './doors/cli/show/all.ts'
import type { AddRoutes } from './doors/http/part.ts'
import type { Duty } from './engine/part.ts'
import type { Part } from './part.ts'
import { parts } from './parts.ts'

const each: readonly Part[] = parts

/** What a worker does for the parts. */
export const duties: readonly Duty[] = each.flatMap((part) => part.duties ?? [])

/** What all parts bring to the doors, put together. */
export const otherWords: Readonly<Record<string, string>> = Object.assign(
  {},
  ...each.map((part) => part.otherWords ?? {}),
)
export const partPaths: Readonly<Record<string, Readonly<Record<string, object>>>> = Object.assign(
  {},
  ...each.map((part) => part.paths ?? {}),
)
export const signedPaths: readonly string[] = each.flatMap((part) => part.signedPaths ?? [])

export async function loadRoutes(): Promise<readonly AddRoutes[]> {
  return Promise.all(each.flatMap((part) => part.routes?.() ?? []))
}

export async function loadShows(): Promise<Readonly<Record<string, Show>>> {
  return Object.assign({}, ...(await Promise.all(each.flatMap((part) => part.shows?.() ?? []))))
}
