import { nounEntries } from '../../../table.ts'

/** Words that other tools have for what is called otherwise here: whoever types them knows what he wants. */

/** Commands that are no verbs, by what was typed in their place, and those that nouns name. */
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

/** Flags, by what was typed in their place. */
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
  '--verbose': 'no flag: `belfry up` tells all that happens unless it is --quiet',
}

export function commandMeant(named: string, path: string): string | undefined {
  const words = `${path} ${named}`.replace(/^belfry /, '')
  return Object.hasOwn(commands, words) ? commands[words] : undefined
}

/** What this command calls it; where it has no such flag, only what belongs to another one. */
export function flagMeant(flag: string, has: (known: string) => boolean): string | undefined {
  const meant = Object.hasOwn(flags, flag) ? flags[flag] : undefined
  return meant !== undefined && (has(meant) || !/^--[a-z-]+$/.test(meant)) ? meant : undefined
}
