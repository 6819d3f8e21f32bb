import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the PostgreSQL server that all test files share; each makes schemas of its own on it. */
    postgresUrl: string
  }
}

export function postgresUrl(): string {
  return inject('postgresUrl')
}
