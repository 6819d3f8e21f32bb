import { isNode, type Node, rootName, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

/** The `skip` of `it.skip(…)` or `it.each(…).skip`, if this is what the node names. */
function modifierOf({ type, object, property }: Node): string | undefined {
  if (type !== 'MemberExpression' || !isNode(property)) return undefined
  return /^(it|test|describe|suite)$/.test(rootName(object)) ? String(property.name) : undefined
}

/** The reason is a comment beside it, or stands in brackets at the end of the title, where a report shows it. */
function hasReason(source: Source, node: Node, parent: Node | undefined): boolean {
  const line = source.lineOf(node.start)
  const [title] = parent?.type === 'CallExpression' ? (parent.arguments as Node[]) : []
  if (title !== undefined && /\(.+\)['"`]$/.test(source.text.slice(title.start, title.end))) return true
  return source.comments.some(({ end }) => [line - 1, line].includes(source.lineOf(end)))
}

function offence(source: Source, node: Node, parent: Node | undefined): string | undefined {
  const modifier = modifierOf(node)
  switch (modifier) {
    case 'only':
      return 'leaves all other tests out'
    case 'todo':
    case 'fails':
      return 'is no test that can pass'
    case 'skip':
    case 'skipIf':
    case 'runIf':
      return hasReason(source, node, parent) ? undefined : 'is left out without a reason beside it or in its title'
    default:
      return undefined
  }
}

export const everyTestRuns: Rule = {
  sentence: 'no test is focused, and none is skipped without a reason beside it',
  offenders: (repository) =>
    repository.under('test').flatMap((source) => {
      const found: string[] = []
      walk(source.program, (node, [parent]) => {
        const problem = offence(source, node, parent)
        if (problem !== undefined) found.push(`${source.at(node)} ${problem}`)
      })
      return found
    }),
  broken: [
    {
      files: { 'test/a.test.ts': `it.only('a', () => b())` },
      says: [/^test\/a\.test\.ts:1 leaves all other tests out/],
    },
    { files: { 'test/a.test.ts': `describe.only.each([1])('a', () => b())` }, says: [/leaves all/] },
    { files: { 'test/a.test.ts': `\nit.skip('a', () => b())` }, says: [/:2 is left out without a reason/] },
    {
      files: { 'test/a.test.ts': `it.skipIf(c)('a', () => b())\ntest.todo('d')` },
      says: [/without a reason/, /no test/],
    },
  ],
  kept: [
    {
      'test/a.test.ts': `// Only Linux tells the boot id.\nit.skipIf(c)('a', () => b())\nanswer.skip.only(answer.skipped)`,
    },
    { 'test/a.test.ts': `it.skip('a (macOS has no such folder)', () => b())` },
  ],
}

const vectorNames = [
  'backoff',
  'calendar',
  'cron',
  'cron-dst',
  'cron-extended',
  'governor',
  'governor-calendar',
  'governor-expiry',
  'governor-memory',
  'governor-window',
  'phases',
  'plan',
  'rank',
  'spread',
  'verdict',
]

export const everyVector: Rule = {
  sentence: `all ${vectorNames.length} files of vectors are here, and each is read by a test`,
  offenders(repository) {
    const { files } = repository
    const paths = new Set([...files.keys()].filter((path) => path.startsWith('test/vectors/')))
    const expected = new Set(vectorNames.map((name) => `test/vectors/${name}.json`))
    const tests = repository.under('test').filter(({ path }) => path.endsWith('.test.ts'))
    const isRead = (name: string) => tests.some(({ text }) => new RegExp(`['"\`/]${name}(\\.json)?['"\`]`).test(text))
    return [
      ...[...expected].filter((path) => !paths.has(path)).map((path) => `${path} is missing`),
      ...[...paths].filter((path) => !expected.has(path)).map((path) => `${path} is not one of the vectors`),
      ...vectorNames.filter((name) => !isRead(name)).map((name) => `test/vectors/${name}.json is read by no test`),
    ]
  },
  broken: [
    {
      files: { ...vectorFiles('plan'), 'test/vectors/other.json': '', 'test/a.test.ts': readings('rank') },
      says: [/plan\.json is missing/, /other\.json is not one/, /rank\.json is read by no test/],
    },
  ],
  kept: [{ ...vectorFiles(), 'test/a.test.ts': readings() }],
}

function vectorFiles(except?: string): Record<string, string> {
  const names = vectorNames.filter((name) => name !== except)
  return Object.fromEntries(names.map((name) => [`test/vectors/${name}.json`, '[]']))
}

function readings(except?: string): string {
  return JSON.stringify(vectorNames.filter((name) => name !== except))
}
