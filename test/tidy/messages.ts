import { isNode, type Node, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

/** What reads a text. Taking off a full stop is no reading. */
const readers = ['split', 'match', 'matchAll', 'includes', 'startsWith', 'endsWith', 'indexOf', 'slice', 'substring']

/** Errors of others that carry nothing but a message. */
const others: Readonly<Record<string, string>> = {
  'src/doors/cli/parse/unknown-flags.ts': 'commander names a flag without its value in the message alone',
}

function isMessage(node: unknown): boolean {
  return isNode(node) && node.type === 'MemberExpression' && isNode(node.property) && node.property.name === 'message'
}

function isRead({ callee, arguments: given }: Node): boolean {
  if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.property)) return false
  const method = String(callee.property.name)
  if (method === 'exec' || method === 'test') return (given as unknown[]).some(isMessage)
  return readers.includes(method) && isMessage(callee.object)
}

function offencesIn(source: Source): string[] {
  const found: string[] = []
  walk(source.program, (node) => {
    if (node.type === 'CallExpression' && isRead(node)) {
      found.push(`${source.at(node)} reads a message: ${source.text.slice(node.start, node.end)}`)
    }
  })
  return found
}

export const noReadMessages: Rule = {
  sentence: 'no code reads the message of an error: what it must know is carried as data',
  offenders: (repository) =>
    repository
      .under('src')
      .filter(({ path }) => !Object.hasOwn(others, path))
      .flatMap(offencesIn),
  broken: [
    { files: { 'src/a.ts': `const [, field] = /^(\\w+) is/.exec(error.message) ?? []` }, says: [/reads a message/] },
    { files: { 'src/a.ts': `const [subject] = (thrown as Error).message.split(': ')` }, says: [/split/] },
    { files: { 'src/a.ts': `if (error.message.includes('locked')) a()` }, says: [/includes/] },
  ],
  kept: [{ 'src/a.ts': `const a = error.message.replace(/\\.$/, '') + /x/.exec(text) + text.split(' ')` }],
}
