import { z } from 'zod'
import type { ConfigFault, ConfigView } from '../../store/change.ts'
import { configFaults, listConfigs } from '../../store/reads/config.ts'
import { everyDoor, operation } from '../operation.ts'
import { instantSaid, outputOf, text } from '../output.ts'
import { apply } from './apply.ts'

/** What files look after, and the files with which something is wrong. */
export interface ConfigSources {
  readonly sources: readonly ConfigView[]
  readonly faults: readonly ConfigFault[]
}

const list = operation({
  noun: 'config',
  verb: 'list',
  says: 'Lists the sources whose files were applied, and the files with which something is wrong.',
  request: 'a list of sources',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({}),
  takes: [],
  output: outputOf<ConfigSources>()(
    z.strictObject({
      sources: z
        .array(
          z.strictObject({
            source: text('The name of the source.'),
            hash: text('Of what its file says.'),
            file: text('Where the file lay.'),
            appliedAt: instantSaid('When it was applied.'),
            actor: text('By whom.'),
            door: text('Through which door.'),
          }),
        )
        .describe('By name.'),
      faults: z
        .array(
          z.strictObject({
            file: text('The file.'),
            says: text('What is wrong with it. Nothing of it was applied.'),
            at: instantSaid('Since when.'),
          }),
        )
        .describe('The files with which something is wrong.'),
    }),
  ),
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}],
  run: async ({ store }) => ({ sources: await store.look(listConfigs), faults: await store.look(configFaults) }),
})

/** The verbs of a configuration. An editor shows these comments at `belfry.config`; a test holds them to what the verb says. */
export const configOperations = {
  /** Makes what a source looks after be as its file says, all of it or nothing; says what changed. */
  apply,
  /** Lists the sources whose files were applied, and the files with which something is wrong. */
  list,
}
