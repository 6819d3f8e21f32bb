/** Writes the page about the command line from the commands themselves; `reference.mjs` puts it into its file. */

/** The page, from the commands as `program` makes them. */
export function cliPage({ root, operations, commandOf, commandLine, errorCodes }) {
  const byWords = new Map(
    operations.flatMap((operation) =>
      [commandOf(operation), ...(operation.aliases ?? [])].map((words) => [words.join(' '), operation]),
    ),
  )
  const leaves = leavesOf(root, [], byWords)
  const shared = sharedFlags(root)
  // An alias is shown by its own words.
  const examplesOf = (words, operation) =>
    operation.examples.map((example) => {
      return commandLine(operation, example).replace(
        `belfry ${commandOf(operation).join(' ')}`,
        `belfry ${words.join(' ')}`,
      )
    })
  const sections = leaves.flatMap(({ words, command }) => {
    const operation = byWords.get(words.join(' '))
    const examples = operation === undefined ? otherExamplesOf(words) : examplesOf(words, operation)
    return section(words, command, { shared, examples })
  })
  return `${[...opening, ...exits(errorCodes), ...everywhere(root, shared), ...contents(leaves), ...sections].join('\n\n')}\n`
}

/** The examples of the commands that are no verbs of the table. */
const otherExamples = {
  up: ['belfry up', 'belfry up --once', 'belfry up --slots 4 --queues default,mail'],
  mcp: ['belfry mcp', 'belfry mcp --read-only', 'belfry mcp --scope admin --store sqlite:/srv/jobs/.belfry/belfry.db'],
  apply: ['belfry apply', 'belfry apply belfry.yaml --dry-run'],
  trust: ['belfry trust', 'belfry trust belfry.yaml', 'belfry trust --store'],
  install: ['belfry install claude', 'belfry install codex --dry-run'],
  uninstall: ['belfry uninstall claude'],
  hook: ['belfry hook claude-stop', 'belfry hook claude-stop --rewake --wait 1h', 'belfry hook codex'],
}

function otherExamplesOf(words) {
  const found = otherExamples[words.join(' ')]
  if (found === undefined) throw new Error(`belfry ${words.join(' ')} has no examples: write some into cli-page.mjs.`)
  return found
}

const opening = [
  '# The command line',
  'Made from the commands themselves by `npm run reference`; a test fails when this page is older than they are.',
  'Every command but `up`, `mcp`, `apply`, `hook`, `install`, `uninstall` and `trust` is a verb of [the table of operations](operations.md), which tells what its answers hold. In ' +
    'answers as JSON instants are ISO texts in UTC, and durations are ms.',
  '**The store.** A command works on the nearest `.belfry/belfry.db` upwards from its folder, as git finds its own; ' +
    '`--store` goes before `BELFRY_STORE`, and that before what is found. Where there is none `up`, `schedule create`, ' +
    '`schedule put`, `queue set`, `run enqueue`, `inbox send` and `import` make one in the folder, and everything else is refused. `DATABASE_URL` is not ' +
    'looked at.',
  '**A server.** With `--server` or `BELFRY_SERVER` a command asks a running `belfry up` over HTTP in place of a store, with a token; ' +
    '[what differs then](../server.md) is little.',
  '**stdout and stderr.** Answers go to stdout; notes, questions, progress and errors to stderr. With `--json` an answer is ' +
    'one JSON value, an error is one JSON object on stderr, and what goes on and on (`up`, `run output -f`) is a line of ' +
    'JSON for each piece.',
  '**Values.** Durations have a unit (`500ms`, `10s`, `1h30m`, `2d`); instants are ISO texts with an offset ' +
    '(`2026-12-01T09:00+01:00`). JSON may be written out, come from a file (`@FILE`) or from a pipe (`-`). What stands ' +
    'behind `--` is a program with its arguments, untouched. A list is written with commas.',
  '**Colours** are for terminals; `NO_COLOR` keeps them away, `FORCE_COLOR` keeps them in a pipe.',
]

function exits(errorCodes) {
  const byExit = new Map([[0, ['It is done.']]])
  for (const { exit, says } of Object.values(errorCodes)) byExit.set(exit, [...(byExit.get(exit) ?? []), says])
  const rows = [...byExit].sort(([a], [b]) => a - b).map(([exit, says]) => [String(exit), says.join(' Or: ')])
  return [
    '## Exit codes',
    table(['exit', 'means'], rows),
    '`doctor` ends with 1 when something is wrong, `run wait` when the run has ended in any other way than well, `up --once` when a run ' +
      'failed or was parked, and `import` when something was left out (unless `--partial`).',
  ]
}

function everywhere(root, shared) {
  const rows = root.options.filter(({ long }) => shared.has(long)).map(flagRow)
  return ['## Flags that every command has', table(['flag', ''], rows)]
}

function contents(leaves) {
  const lines = leaves.map(({ words, command }) => {
    return `- [\`belfry ${words.join(' ')}\`](#${words.join('-')}): ${command.description()}`
  })
  return ['## Commands', lines.join('\n')]
}

function section(words, command, { shared, examples }) {
  const args = command.registeredArguments.map((each) => [`\`${each.name().toUpperCase()}\``, each.description])
  // A flag that every command has may mean something else in one of them, as `--store` does in `trust`.
  const flags = command.options.filter((each) => shared.get(each.long) !== each.flags && !each.hidden).map(flagRow)
  const rows = [...args, ...flags]
  return [
    `### ${words.join(' ')}`,
    command.description(),
    `\`belfry ${words.join(' ')} ${command.usage()}\``,
    ...(rows.length === 0 ? [] : [table(['', ''], rows)]),
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ]
}

function flagRow({ flags, description }) {
  return [`\`${flags}\``, description]
}

function sharedFlags(root) {
  return new Map(root.options.filter(({ long }) => long !== '--version').map(({ long, flags }) => [long, flags]))
}

/** The commands that do something, in the order of the help: those without others under them, and verbs that have some. */
function leavesOf(command, words, byWords) {
  const own = command.commands.length === 0 || byWords.has(words.join(' ')) ? [{ words, command }] : []
  return [...own, ...command.commands.flatMap((each) => leavesOf(each, [...words, each.name()], byWords))]
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
