import { resolve } from 'node:path'
import type { Events } from '../../engine/events.ts'
import type { Behind } from '../../library/part.ts'
import { entriesOf } from './apply-operation.ts'
import { type ConfigNews, ConfigWatch } from './config-watch.ts'
import { Trust } from './trusted-files.ts'

export interface WatchOptions {
  /** Whether the file was found in a default place and not named: one that another user could have written then needs trust. */
  readonly isFound?: boolean
  /** Whether the file is only polled: in a folder where much is written, notifications would cost more. */
  readonly isPolled?: boolean
}

export async function watchFile(
  { context, events }: Pick<Behind, 'context' | 'events'>,
  file: string,
  { isFound = false, isPolled = false }: WatchOptions = {},
): Promise<ConfigWatch> {
  const path = resolve(file)
  const { kinds, sections } = context
  const watch = new ConfigWatch({
    path,
    isPolled,
    context: { ...context, actor: { ...context.actor, door: 'file' } },
    trust: new Trust(process.env, { kinds, sections, found: isFound ? path : null }),
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
  const { source, answer } = news.written
  const count = (...words: string[]) => entriesOf(news.written).filter((entry) => words.includes(entry.answer)).length
  const counts = { created: count('created'), updated: count('updated', 'set'), deleted: count('deleted') }
  events.tell('config.applied', { file, source, answer, ...counts })
}
