import type { Part } from '../../part.ts'
import { apply } from './apply-operation.ts'
import { config as check } from './config-check.ts'
import { lines } from './config-events.ts'
import { list } from './list-configs.ts'
import { configuredScope } from './read-configs.ts'
import type { WatchOptions } from './watch-file.ts'

const file = 'The config file. Default: belfry.yaml beside the store’s folder, or in this folder.'

/** Config files: YAML that manages queues, schedules and the scopes of tokens. Its tables are the kernel's, whose rows name them. */
export const config = {
  name: 'config',
  configuredScope,
  nouns: {
    config: {
      says: 'Config files: they manage queues, schedules and the scopes of tokens.',
      plural: 'config',
      operations: { apply, list },
    },
  },
  checks: [check],
  events: lines,
  methods: {
    /** Applies a config file, and again whenever it changes, until the result is closed. */
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
        { flags: '-y, --yes', says: 'Allow deleting more than half of what the source of the file created.' },
        { flags: '--adopt', says: 'Take over schedules that were created by hand with other fields.' },
      ],
      load: async () => (await import('./apply-command.ts')).apply,
    },
  ],
  up: {
    options: [
      {
        flags: '--config <file>',
        says: 'Apply this config file and watch it, or none. Default: belfry.yaml.',
      },
    ],
    load: async () => (await import('./worker-config.ts')).workerConfig,
  },
  trusts: { says: file, load: async () => (await import('./trust-file.ts')).trustFile },
} as const satisfies Part
