import { z } from 'zod'
import { everyDoor, operation } from '../../operations/operation.ts'
import { type AnswerOf, advice, instantOutput, text } from '../../operations/schema/output-schema.ts'
import { configFaults, listConfigs } from './read-configs.ts'
import { showSources } from './show.ts'

const configSources = z.strictObject({
  sources: z
    .array(
      z.strictObject({
        source: text('The name of the source.'),
        hash: text('The hash of its content.'),
        file: text('The path of the file.'),
        appliedAt: instantOutput('When it was applied.'),
        actor: text('The actor that applied it.'),
        door: text('The door it was applied through.'),
      }),
    )
    .describe('The sources by name.'),
  faults: z
    .array(
      z.strictObject({
        file: text('The file.'),
        says: advice('What is wrong. Nothing of the file was applied.'),
        at: instantOutput('When this was first seen.'),
      }),
    )
    .describe('Files that cannot be applied.'),
})

/** The config sources, and the faulty files. */
export type ConfigSources = AnswerOf<typeof configSources>

export const list = operation({
  noun: 'config',
  verb: 'list',
  method: 'GET',
  says: 'List config sources, and files that cannot be applied.',
  request: 'a list of sources',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({}),
  takes: [],
  output: configSources,
  errors: ['invalid'],
  doors: everyDoor,
  show: showSources,
  examples: [{}],
  run: async ({ store }) => ({ sources: await store.look(listConfigs), faults: await store.look(configFaults) }),
})
