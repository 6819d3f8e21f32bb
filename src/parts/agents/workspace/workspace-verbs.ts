import { z } from 'zod'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import { count, flag, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import type { Listing } from '../../../operations/show.ts'
import type { Worktree } from './prune-worktrees.ts'

const workspace = noted(
  z.strictObject({
    run: text('The run that made it.'),
    attempt: count('The attempt that made it.'),
    machine: text('The machine that it is on.'),
    path: text('Its folder.'),
    checkout: text('The checkout that it was made from.'),
    base: text('The commit that it began with.'),
    madeAt: instantOutput('When it was made.'),
    state: z
      .enum(['in-use', 'left', 'gone'])
      .describe('Whether its run goes on, has left it, or its folder was removed.'),
    changed: flag('Whether it has changes; null: not known yet.').nullable(),
    bytes: count('Its size; null: not known yet.').nullable(),
  }),
  { id: 'Workspace' },
)
type WorkspaceLine = z.output<typeof workspace>

const shown: Listing<readonly WorkspaceLine[], WorkspaceLine> = {
  columns: [
    ['RUN', 'run', 'name'],
    ['STATE', 'state', 'text'],
    ['CHANGES', ({ changed }) => (changed === null ? '?' : changed ? 'yes' : 'no')],
    ['SIZE', ({ bytes }) => (bytes === null ? '?' : `${Math.ceil(bytes / 1024 ** 2)} MB`)],
    ['MACHINE', 'machine', 'text'],
    ['PATH', 'path', 'text'],
  ],
  none: () => 'No worktrees.',
  below: (lines, { command }) =>
    lines.length === 0 ? null : `remove those without changes: ${command('workspace', 'prune')}`,
}

const common = { noun: 'workspace', errors: ['invalid'], takes: [] } as const

const list = operation({
  ...common,
  verb: 'list',
  method: 'GET',
  says: 'List the worktrees of agents: their runs, folders, changes and sizes.',
  request: 'a list of workspaces',
  effect: 'read',
  scope: 'read',
  doors: everyDoor,
  input: z.strictObject({}),
  output: z.array(workspace),
  show: shown,
  examples: [{}],
  async run({ store }) {
    const { worktreesIn } = await import('./prune-worktrees.ts')
    return (await worktreesIn(store)).map(lineOf)
  },
})

const here: Doors = {
  ...everyDoor,
  http: 'It removes folders on the machine of the caller.',
  mcp: 'It removes folders on the machine of the caller.',
}

const prune = operation({
  ...common,
  verb: 'prune',
  says: 'Remove the worktrees of ended runs on this machine; those with changes only where asked for.',
  request: 'a removal of workspaces',
  effect: 'destructive',
  scope: 'admin',
  doors: here,
  input: z.strictObject({
    changed: z.boolean().describe('Remove those with changes too: the changes are lost. Default: false.').optional(),
  }),
  output: z.array(workspace).describe('What was removed.'),
  show: {
    ...shown,
    below: (removed) => `removed: ${removed.length}`,
  },
  examples: [{}, { changed: true }],
  async run({ store }, { changed = false }) {
    const { pruneWorktrees } = await import('./prune-worktrees.ts')
    return (await pruneWorktrees(store, { withChanges: changed })).removed.map(lineOf)
  },
})

export const workspaceOperations = { list, prune }

function lineOf({ runId, fence, root, isOver, isGone, leftAt: _, hasChanges, ...rest }: Worktree): WorkspaceLine {
  const state = isGone ? 'gone' : isOver ? 'left' : 'in-use'
  return { run: runId, attempt: fence, checkout: root, state, changed: hasChanges, ...rest }
}
