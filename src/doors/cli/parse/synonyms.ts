import { nounEntries } from '../../../table.ts'

/** Words that other tools use for commands and flags of ours. */

/** Synonyms for commands that are no verbs, and those that nouns declare. */
const commands: Readonly<Record<string, string>> = Object.assign(
  {
    start: 'up',
    serve: 'up',
    work: 'up',
    dev: 'up',
    daemon: 'up',
  },
  ...Object.values(nounEntries).map(({ otherWords }) => otherWords ?? {}),
)

/** Synonyms for flags. */
const flags: Readonly<Record<string, string>> = {
  '--tz': '--zone',
  '--timezone': '--zone',
  '--time-zone': '--zone',
  '--interval': '--every',
  '--schedule': '--cron',
  '--url': '--http',
  '--exec': '--command',
  '--cmd': '--command',
  '--shell': '--command',
  '--run': '--command',
  '--data': '--payload',
  '--args': '--payload',
  '--input': '--file',
  '--delay': '--in',
  '--after': '--in',
  '--when': '--at',
  '--time': '--at',
  '--headers': '--header',
  '--tag': '--tags',
  '--retries': '--attempts',
  '--max-attempts': '--attempts',
  '--concurrency': '--max-concurrent of `belfry queue set`',
  '--max-concurrent': '--max-concurrent of `belfry queue set`',
  '--format': '--json',
  '--output': '--json',
  '--db': '--store',
  '--database': '--store',
  '--database-url': '--store',
  '--host': '--server',
  '--remote': '--server',
  '--token': '--token-file',
  '--force': '--yes',
  '--for': '--ttl',
  '--dry': '--dry-run',
  '--no-budget': '--without-budget',
  '--verbose': 'no flag: `belfry up` prints every event unless it has --quiet',
}

export function commandMeant(named: string, path: string): string | undefined {
  const words = `${path} ${named}`.replace(/^belfry /, '')
  return Object.hasOwn(commands, words) ? commands[words] : undefined
}

/** This command's own flag for a synonym; without one, only synonyms that point to another command. */
export function flagMeant(flag: string, has: (known: string) => boolean): string | undefined {
  const meant = Object.hasOwn(flags, flag) ? flags[flag] : undefined
  return meant !== undefined && (has(meant) || !/^--[a-z-]+$/.test(meant)) ? meant : undefined
}
