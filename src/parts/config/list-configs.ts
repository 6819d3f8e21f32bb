import { z } from 'zod'
import { everyDoor, operation } from '../../operations/operation.ts'
import { advice, instantOutput, outputOf, text } from '../../operations/schema/output-schema.ts'
import { type ConfigFault, type ConfigView, configFaults, listConfigs } from './read-configs.ts'
import { showSources } from './show.ts'

/** What files look after, and the files with which something is wrong. */
export interface ConfigSources {
  readonly sources: readonly ConfigView[]
  readonly faults: readonly ConfigFault[]
}

export const list = operation({
  noun: 'config',
  verb: 'list',
  method: 'GET',
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
            appliedAt: instantOutput('When it was applied.'),
            actor: text('By whom.'),
            door: text('Through which door.'),
          }),
        )
        .describe('By name.'),
      faults: z
        .array(
          z.strictObject({
            file: text('The file.'),
            says: advice('What is wrong with it. Nothing of it was applied.'),
            at: instantOutput('Since when.'),
          }),
        )
        .describe('The files with which something is wrong.'),
    }),
  ),
  errors: ['invalid'],
  doors: everyDoor,
  show: showSources,
  examples: [{}],
  run: async ({ store }) => ({ sources: await store.look(listConfigs), faults: await store.look(configFaults) }),
})
