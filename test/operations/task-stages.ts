import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verbsAt } from './desk.ts'
import { leased, type Stage } from './stages.ts'

const nothing: Stage = async () => ({})

/** A task with the id of the examples. */
const tasked: Stage = async ({ context }) => {
  const { tasks } = verbsAt(() => ({ ...context, randomHex: () => '3f9c01ab' }))
  await tasks.create({ at: '2026-01-05T10:00Z', prompt: 'Is the deploy healthy?' })
  return { id: '3f9c01ab' }
}

/** The same, planned as an agent does. */
const planned: Stage = async ({ context }) => {
  const { tasks } = verbsAt(() => ({ ...context, randomHex: () => '3f9c01ab' }))
  await tasks.plan({ at: '2026-01-05T10:00Z', prompt: 'Is the deploy healthy?' })
  return { id: '3f9c01ab' }
}

const missed: Stage = async (desk) => {
  const known = await tasked(desk)
  desk.clock.advance(86_400_000)
  await desk.store.fireDue({ limit: 10 })
  return known
}

const claudeFolder = mkdtempSync(join(tmpdir(), 'belfry-claude-example-'))
process.once('exit', () => rmSync(claudeFolder, { recursive: true, force: true }))

/** A file of Claude with one task. */
const claudeHas: Stage = async () => {
  const path = join(claudeFolder, 'scheduled_tasks.json')
  writeFileSync(path, '{"tasks":[{"id":"3f9c01ab","cron":"0 9 * * *","prompt":"Look.","permanent":true}]}')
  return { path }
}

/** The stages of tasks and missed prompts. */
export const taskStages = {
  'task create': nothing,
  'task loop': nothing,
  'task plan': nothing,
  'task repeat': nothing,
  'task planned': planned,
  'task unplan': planned,
  'task wake': nothing,
  'task progress': (desk: Parameters<Stage>[0]) => leased(desk),
  'task export': tasked,
  'task list': missed,
  'task get': tasked,
  'task edit': tasked,
  'task delete': tasked,
  'task pause': tasked,
  'task resume': tasked,
  'task run': tasked,
  'store importClaude': claudeHas,
  'missed list': missed,
  'missed run': missed,
  'missed drop': missed,
} as const
