/** Joins a file that looks after queues and schedules with a Belfry that is open. */
import { resolve } from 'node:path'
import { Trust } from './config/trust.ts'
import { type ConfigNews, ConfigWatch } from './config/watch.ts'
import type { Events } from './engine/events.ts'
import type { OperationContext } from './operations/context.ts'

interface Behind {
  readonly context: OperationContext
  readonly events: Events
}

/** How a file is watched. */
export interface WatchOptions {
  /** Whether the file was not named but lies where one is looked for: then one that another user could have written needs trust. */
  readonly isFound?: boolean
}

/** Applies the file, and again whenever it changes, until it is closed. */
export async function watched(
  file: string,
  { context, events }: Behind,
  { isFound = false }: WatchOptions,
): Promise<ConfigWatch> {
  const path = resolve(file)
  const watch = new ConfigWatch({
    path,
    context: { ...context, actor: { ...context.actor, door: 'file' } },
    trust: new Trust(process.env, { found: isFound ? path : null }),
    tell: (news) => tell(news, events),
  })
  await watch.begin()
  return watch
}

function tell(news: ConfigNews, events: Events): void {
  const { file } = news
  if (news.what === 'refused') {
    events.tell('config.refused', { file, error: news.error })
    return
  }
  const { source, answer, queues, schedules, tokens } = news.written
  const count = (...words: string[]) =>
    [...queues, ...schedules, ...tokens].filter((part) => words.includes(part.answer)).length
  const counts = { created: count('created'), updated: count('updated', 'set'), deleted: count('deleted') }
  events.tell('config.applied', { file, source, answer, ...counts })
}
