import { commandOf, verbWords } from '../../src/operations/operation.ts'
import { operations } from '../../src/table.ts'
import { isNode, type Node, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

/** The names of verbs in each spelling: `schedule.clearHints`, `schedule_clear_hints`, and the words of the command. */
const names: ReadonlySet<string> = new Set(
  operations.flatMap((operation) => {
    const { noun, verb } = operation
    const verbs = [verb, verbWords(verb), verbWords(verb).replaceAll('-', '_')]
    const spelled = verbs.flatMap((each) => ['.', '_', ' '].map((mark) => `${noun}${mark}${each}`))
    return [...spelled, commandOf(operation).join(' ')].filter((name) => /[._ ]/.test(name))
  }),
)

/** The layers that know verbs and nouns: the table itself, and the parts that bring some. Database tables and events have names of their own. */
const knowing = /^src\/(operations|parts)\/|^src\/store\/tables\.ts$|^src\/library\/log\.ts$/

function offencesIn(source: Source): string[] {
  const found: string[] = []
  walk(source.program, (node, [parent]) => {
    const name = nameIn(node)
    if (name !== null && names.has(name) && isKey(node, parent)) {
      found.push(`${source.at(node)} has a table or a rule for the verb ${name}: its entry should say it`)
    }
    if (node.type === 'BinaryExpression' && isNamed(node.left) && isText(node.right)) {
      found.push(`${source.at(node)} asks for a verb by its name: ${source.text.slice(node.start, node.end)}`)
    }
  })
  return found
}

function nameIn(node: Node): string | null {
  if (node.type === 'Identifier') return String(node.name)
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : null
}

/** Whether something is looked up by it: the key of an object, an item of a list, or what is compared. */
function isKey(node: Node, parent: Node | undefined): boolean {
  if (parent?.type === 'Property') return parent.key === node
  return ['ArrayExpression', 'BinaryExpression', 'SwitchCase'].includes(parent?.type ?? '')
}

/** `operation.verb`, `verb` or `noun`. */
function isNamed(node: unknown): boolean {
  if (!isNode(node)) return false
  const name = node.type === 'MemberExpression' && isNode(node.property) ? node.property.name : node.name
  return name === 'verb' || name === 'noun'
}

function isText(node: unknown): boolean {
  return isNode(node) && node.type === 'Literal' && typeof node.value === 'string'
}

export const noTablesOfVerbs: Rule = {
  sentence: 'outside the table and the parts nothing is looked up by the name of a verb',
  offenders: (repository) =>
    repository
      .under('src')
      .filter(({ path }) => !knowing.test(path))
      .flatMap(offencesIn),
  broken: [
    { files: { 'src/doors/cli/a.ts': `const begins = new Set(['schedule create'])` }, says: [/schedule create/] },
    { files: { 'src/doors/mcp/a.ts': `const alike = { schedule_create: 'schedule_put' }` }, says: [/schedule_create/] },
    { files: { 'src/doors/cli/a.ts': `const a = words === 'run wait'` }, says: [/run wait/] },
    { files: { 'src/store/a.ts': `switch (verb) { case 'schedule.pause': a() }` }, says: [/schedule\.pause/] },
    { files: { 'src/client/a.ts': `const a = operation.noun === 'run' && verb !== 'get'` }, says: [/noun/, /verb/] },
  ],
  kept: [
    {
      'src/operations/a.ts': `const a = { 'run wait': 1 }`,
      'src/store/a.ts': `writeAudit(context, { verb: 'schedule.pause' })`,
      'src/doors/cli/a.ts': `const help = 'belfry run wait'\nconst ends = ['run.completed']`,
    },
  ],
}
