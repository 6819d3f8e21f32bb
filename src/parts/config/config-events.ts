import { type EventLines, errorSentence } from '../../engine/events.ts'

declare module '../../engine/events.ts' {
  interface EngineEvents {
    /** A file that looks after queues and schedules was applied, or was found to be applied already. */
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
        ? `The file ${file} was applied for source ${source}: ${created} created, ${updated} updated, ${deleted} deleted.`
        : answer === 'older'
          ? `The file ${file} says what source ${source} had before it got what it has now, so it was left alone; \`belfry apply\` goes back to it.`
          : `The file ${file} says what source ${source} has.`,
  },
  'config.refused': {
    level: 'error',
    say: ({ file, error }) => `The file ${file} was not applied, and nothing was changed: ${errorSentence(error)}`,
  },
}
