import type { Part } from '../../part.ts'
import { config as tables } from './0007-config.ts'
import { apply } from './apply-operation.ts'
import { config as check } from './config-check.ts'
import { lines } from './config-events.ts'
import { list } from './list-configs.ts'
import { configuredScope } from './read-configs.ts'
import type { WatchOptions } from './watch-file.ts'

const file = 'The file. Default: belfry.yaml beside the store’s folder, or here.'

/** Config files: YAML that looks after queues, schedules and the scopes of tokens. */
export const config = {
  name: 'config',
  migrations: [tables],
  configuredScope,
  nouns: {
    config: {
      says: 'What files look after: queues, schedules and the scopes of tokens.',
      plural: 'config',
      operations: { apply, list },
    },
  },
  checks: [check],
  events: lines,
  methods: {
    /** Applies a file that looks after queues and schedules, and again whenever it changes, until this is closed. */
    watch: async (behind, path: string, options?: WatchOptions) =>
      (await import('./watch-file.ts')).watchFile(behind, path, options),
  },
  commands: [
    {
      name: 'apply',
      says: 'Apply a config file, all or nothing, and print what changed.',
      usage: '[FILE] [flags]',
      file,
      options: [
        { flags: '--dry-run', says: 'Show what would be done, and write nothing.' },
        { flags: '-y, --yes', says: 'Deletes more than half of what the source of the file made, if it says so.' },
        { flags: '--adopt', says: 'Takes over schedules that were made by hand and say something else.' },
      ],
      load: async () => (await import('./apply-command.ts')).apply,
    },
  ],
  up: {
    options: [
      {
        flags: '--config <file>',
        says: 'The file that looks after queues and schedules, or none. Default: belfry.yaml.',
      },
    ],
    load: async () => (await import('./worker-config.ts')).workerConfig,
  },
  trusts: { says: file, load: async () => (await import('./trust-file.ts')).trustFile },
} as const satisfies Part
