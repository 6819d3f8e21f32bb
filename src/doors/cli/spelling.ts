type Environment = Readonly<Record<string, string | undefined>>

/** A command of ours inside a text for people. */
const command = /(?<![\w/.-])belfry(?= (?:up|schedule|run|queue|worker|explain|doctor)\b)/g

/**
 * Spells commands as they are typed where this one was started: in a folder that only has the package npm finds it, and
 * `belfry` alone is not found.
 */
export function spelled(text: string, { npm_command, npm_lifecycle_event }: Environment): string {
  const isByNpm = npm_command !== undefined || npm_lifecycle_event !== undefined
  return isByNpm ? text.replace(command, 'npx belfry') : text
}
