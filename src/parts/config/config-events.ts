import { type EventLines, errorSentence } from '../../engine/events.ts'

declare module '../../engine/events.ts' {
  interface EngineEvents {
    /** A config file was applied, or its source already had its content. */
    'config.applied': {
      readonly file: string
      readonly source: string
      readonly answer: string
      readonly created: number
      readonly updated: number
      readonly deleted: number
    }
    /** A file cannot be applied; nothing was changed. */
    'config.refused': { readonly file: string; readonly error: Error }
  }
}

export const lines: EventLines<'config.applied' | 'config.refused'> = {
  'config.applied': {
    level: 'info',
    say: ({ file, source, answer, created, updated, deleted }) =>
      answer === 'applied'
        ? `Config file ${file} was applied for source ${source}: ${created} created, ${updated} updated, ${deleted} deleted.`
        : answer === 'older'
          ? `Config file ${file} has content that source ${source} had before its current one, so it was not applied; \`belfry apply\` goes back to it.`
          : `Config file ${file} has the current content of source ${source}.`,
  },
  'config.refused': {
    level: 'error',
    say: ({ file, error }) => `Config file ${file} was not applied, and nothing was changed: ${errorSentence(error)}`,
  },
}
