import type { Part } from '../../../part.ts'
import { importClaude } from './import-claude.ts'

const dryRun = { flags: '--dry-run', says: 'Show what would be done, and write nothing.' }

/** Imports the tasks of Claude Code, and adds Belfry's entries to the settings of Claude Code and Codex. */
export const comingOver = {
  name: 'coming-over',
  commands: [
    {
      name: 'install',
      says: 'Put Belfry’s MCP server and Stop hook into the settings of an agent, and import its tasks.',
      usage: '<claude|codex> [flags]',
      file: 'The agent: claude or codex.',
      options: [dryRun],
      load: async () => (await import('./install-command.ts')).install,
    },
    {
      name: 'uninstall',
      says: 'Undo what install did.',
      usage: '<claude|codex> [flags]',
      file: 'The agent: claude or codex.',
      options: [dryRun],
      load: async () => (await import('./install-command.ts')).uninstall,
    },
  ],
  nouns: {
    store: { operations: { importClaude }, groups: { import: 'Import from another scheduler.' } },
  },
} as const satisfies Part
