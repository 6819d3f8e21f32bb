/** The command line: gives the door this process's terminal, folder, stores and servers. */
import { systemClock } from './core/clock.ts'
import { main } from './doors/cli/main.ts'
import { startedAs } from './doors/cli/spelling/started-as.ts'
import type { ServerOpening, StoreOpening, World } from './doors/cli/world.ts'
import { packageVersion } from './library/version.ts'
import { openSession, openWorker, reachServer, serveModel } from './sessions.ts'

const { argv, env, stdin, stdout, stderr } = process
const folder = process.cwd()
let own: string | undefined
const world: World = {
  env,
  folder,
  /** Computed only when a command is shown, which is rare. */
  get own() {
    own ??= startedAs({ env, folder, script: argv[1] })
    return own
  },
  stdin,
  stdout,
  stderr,
  clock: systemClock,
  open: (opening: StoreOpening) => openSession(opening, { env, folder }),
  reach: (opening: ServerOpening) => reachServer(opening, { env }),
  work: openWorker,
  model: serveModel,
}

/** Executes what was typed, and returns the exit code. */
export function run(): Promise<number> {
  return main(argv.slice(2), world, packageVersion())
}
