import { startProblem } from '../../targets/command/start-problem.ts'
import type { KindStore } from '../../targets/kind.ts'
import type { AgentProfile } from './profile-form.ts'
import { listProfiles } from './profile-rows.ts'
import { type KnownProfile, knownProfiles } from './profiles.ts'

/** The source of the attempt of a live check. */
export const checkSource = 'check'

/** The profiles in the store. Each call reads the rows; the profiles are parsed again only when a row has changed. */
export class ProfileCache {
  readonly #store: KindStore
  #rows: string | null = null
  known: ReadonlyMap<string, KnownProfile> = new Map()

  constructor(store: KindStore) {
    this.#store = store
  }

  async all(): Promise<ReadonlyMap<string, KnownProfile>> {
    const rows = JSON.stringify(await this.#store.look(listProfiles))
    if (rows !== this.#rows) this.known = await knownProfiles(this.#store)
    this.#rows = rows
    return this.known
  }
}

/** Whether the program of a profile can be started on this machine. */
export async function isProgramThere(profile: AgentProfile, env: NodeJS.ProcessEnv): Promise<boolean> {
  return (await programProblem(profile, env)) === null
}

/** Why the program cannot be started, in one sentence. */
export function programProblem({ argv, env: named }: AgentProfile, env: NodeJS.ProcessEnv): Promise<string | null> {
  const { PATH: path = env.PATH ?? '' } = named ?? {}
  return startProblem({ argv, cwd: '/', environment: { PATH: typeof path === 'string' ? path : '' } })
}
