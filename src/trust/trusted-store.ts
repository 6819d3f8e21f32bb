import { join } from 'node:path'
import { BelfryError } from '../core/error.ts'
import { LineFile, refuseLineBreak } from './line-file.ts'
import { type Environment, stateFolder } from './state-folder.ts'
import { type Stranger, strangersAt } from './strangers.ts'

/** The folder from which a store was found, and the user's environment. */
interface Finding {
  readonly from: string
  readonly env: Environment
}

/** The stores that this user trusts although other users can write them, each with those users. */
export class TrustedStores {
  readonly #file: LineFile

  constructor(env: Environment) {
    this.#file = new LineFile(join(stateFolder(env), 'stores'))
  }

  /** Whether all of these users are trusted with this store. */
  has(store: string, strangers: readonly Stranger[]): boolean {
    const known = new Set(this.#usersOf(store))
    return strangers.every((stranger) => known.has(userOf(stranger)))
  }

  give(store: string, strangers: readonly Stranger[]): void {
    refuseLineBreak(store)
    const users = new Set([...this.#usersOf(store), ...strangers.map(userOf)])
    const others = this.#file.read().filter((line) => storeIn(line) !== store)
    this.#file.write([...others, `${[...users].join(',')} ${store}`])
  }

  #usersOf(store: string): string[] {
    const line = this.#file.read().find((each) => storeIn(each) === store)
    return line === undefined ? [] : line.slice(0, line.indexOf(' ')).split(',')
  }
}

/**
 * The path in a line. The path begins after the first space and may contain spaces, so comparing only the end of the line could match
 * another store.
 */
function storeIn(line: string): string {
  return line.slice(line.indexOf(' ') + 1)
}

function userOf({ user }: Stranger): string {
  return user === null ? 'all' : String(user)
}

/** Whether an untrusted user can write a store. */
export function isForeignStore(file: string, { from, env }: Finding): boolean {
  const strangers = strangersAt(file, { from })
  return strangers.length > 0 && !new TrustedStores(env).has(file, strangers)
}

/**
 * Refuses a store that Belfry found by itself and that another user can write, as git refuses a repository of another user: such
 * a store decides which programs are started as this user. A store that the caller has named is the caller's own choice.
 */
export function refuseForeignStore(file: string, { from, env }: Finding): void {
  const strangers = strangersAt(file, { from })
  const [first] = strangers
  if (first === undefined || new TrustedStores(env).has(file, strangers)) return
  const { path, user } = first
  const who =
    user === null
      ? 'can be written by every user of this machine'
      : `belongs to user ${user}, and this is user ${process.geteuid?.()}`
  const message = `The store ${file} is not used: ${path} ${who}.`
  throw new BelfryError('not-allowed', `${message} The store decides which programs are started as this user.`, {
    hint: 'If you trust it: belfry trust --store. Or name the store to use: --store or BELFRY_STORE, and in a program Belfry.open({ store }).',
    details: { store: file, strangers: strangers.slice(0, 20) },
  })
}
