#!/usr/bin/env node
/** The entry of the command line. It chooses the features first, because what is left out is never loaded. */
import { BelfryError } from './core/error.ts'
import { featuresSaid } from './doors/cli/session/feature-file.ts'
import { chooseFeatures } from './features.ts'
import { errorCodes } from './operations/error-codes.ts'

async function hasChosen(): Promise<boolean> {
  const { argv, env, stderr } = process
  try {
    const said = await featuresSaid(argv.slice(2), { env, folder: process.cwd() })
    chooseFeatures(said.features, said.from)
    return true
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    stderr.write(`error: ${error.message}\n${error.hint === undefined ? '' : `hint: ${error.hint}\n`}`)
    process.exitCode = errorCodes[error.code].exit
    return false
  }
}

if (await hasChosen()) process.exitCode = await (await import('./typed-command.ts')).run()
