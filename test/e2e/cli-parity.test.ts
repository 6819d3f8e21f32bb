import { describe, expect, it } from 'vitest'
import { operations } from '../../src/table.ts'
import { postgresUrl } from '../postgres.ts'
import { Shell } from './belfry-process.ts'
import { hostSteps, missing, steps, workedSteps } from './parity-steps.ts'
import { type Line, play } from './play.ts'
import type { Step } from './step.ts'

/** Plays the steps on the store of a shell itself. */
function playOn(shell: Shell, list: readonly Step[]): Promise<Line[]> {
  const places = [`${shell.folder}/.belfry/belfry.db`, postgresUrl(), shell.folder]
  return play({ belfry: (words, typing) => shell.belfry(words, typing), places }, list)
}

/** Hundreds of processes, one after another: only a machine that is very busy with others takes as long as this. */
const timeout = 400_000

describe('every verb of the command line', { timeout }, () => {
  it('is typed by a step', () => expect(missing(operations)).toEqual([]))

  it('answers the same on SQLite and PostgreSQL where no worker runs', async () => {
    const all = [...steps, ...hostSteps]
    const [sqlite, postgres] = await Promise.all([playOn(new Shell('sqlite'), all), playOn(new Shell('postgres'), all)])
    expect(postgres).toEqual(sqlite)
  })

  it('answers the same on SQLite and PostgreSQL beside a worker, and of what it did', async () => {
    const shells = [new Shell('sqlite'), new Shell('postgres')]
    const [sqlite, postgres] = await Promise.all(
      shells.map(async (shell) => {
        await shell.up('--name ringer')
        return playOn(shell, [...steps, ...workedSteps])
      }),
    )
    expect(postgres).toEqual(sqlite)
  })
})
