import { isNode, isReference, type Node, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

const clockFile = 'src/core/clock.ts'
/** What sets a timer. `setImmediate` is none: it yields to what is already waiting. */
const timers = ['setTimeout', 'setInterval']
/** The uses of `Date` that compute and do not look at the machine's clock. */
const pureDateMembers = ['UTC', 'parse']

function readsClock(node: Node, parent: Node | undefined): boolean {
  if (node.type === 'MemberExpression') return isNode(node.property) && node.property.name === 'hrtime'
  if (!isReference(node, parent)) return false
  if (node.name === 'performance' || timers.includes(String(node.name))) return true
  if (node.name !== 'Date') return false
  if (parent?.type === 'NewExpression' && parent.callee === node) return (parent.arguments as unknown[]).length === 0
  if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof') return false
  const member = parent?.type === 'MemberExpression' && isNode(parent.property) ? String(parent.property.name) : ''
  return !pureDateMembers.includes(member)
}

function found(source: Source, isBreach: (node: Node, parent: Node | undefined) => boolean, problem: string): string[] {
  const offences: string[] = []
  walk(source.program, (node, [parent]) => {
    if (isBreach(node, parent))
      offences.push(`${source.at(node)} ${problem}: ${source.text.slice(node.start, (parent ?? node).end)}`)
  })
  return offences
}

export const oneClock: Rule = {
  sentence: `only ${clockFile} reads the machine's clocks and sets its timers`,
  offenders: (repository) =>
    repository
      .under('src')
      .filter(({ path }) => path !== clockFile)
      .flatMap((source) => found(source, readsClock, 'reads a clock')),
  broken: [
    { files: { 'src/store/a.ts': '\nconst a = Date.now()' }, says: [/^src\/store\/a\.ts:2 reads a clock: Date\.now/] },
    { files: { 'src/store/a.ts': 'const a = new Date()' }, says: [/Date/] },
    { files: { 'src/store/a.ts': 'const a = Date()' }, says: [/Date/] },
    { files: { 'src/store/a.ts': 'const { now } = Date' }, says: [/Date/] },
    { files: { 'src/store/a.ts': 'const a = performance.now()' }, says: [/performance/] },
    { files: { 'src/store/a.ts': `import { performance as a } from 'node:perf_hooks'` }, says: [/performance/] },
    { files: { 'src/store/a.ts': 'const a = process.hrtime.bigint()' }, says: [/hrtime/] },
    { files: { 'src/store/a.ts': 'setInterval(() => undefined, 1)' }, says: [/setInterval/] },
    { files: { 'src/store/a.ts': `import { setTimeout as a } from 'node:timers/promises'` }, says: [/setTimeout/] },
  ],
  kept: [
    { 'src/core/clock.ts': 'export const now = () => Date.now() + performance.now()' },
    {
      'src/core/a.ts': `// Date.now()\nconst a = 'Date.now()', b = new Date(0), c = Date.UTC(2026), d = { Date: 1, performance: 2 }`,
    },
    {
      'src/core/a.ts': 'export function a(b: Date | string) { return b instanceof Date ? b.getTime() : Date.parse(b) }',
    },
    { 'test/a.test.ts': 'Date.now()' },
  ],
}

const impureNames = ['process', 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'console', 'crypto', 'require']
/** Of the modules core may import, what it may take from them. */
const pureImports: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['createHash', 'createHmac', 'timingSafeEqual'],
}

function isImpure(node: Node, parent: Node | undefined): boolean {
  if (node.type === 'ImportSpecifier' && isNode(parent?.source) && isNode(node.imported)) {
    const pure = pureImports[String(parent.source.value)]
    return pure !== undefined && !pure.includes(String(node.imported.name))
  }
  if (node.type === 'MemberExpression' && isNode(node.object) && isNode(node.property)) {
    return node.object.name === 'Math' && node.property.name === 'random'
  }
  return isReference(node, parent) && impureNames.includes(String(node.name))
}

export const pureCore: Rule = {
  sentence: 'core is pure: no luck, no process, no timers, no input or output',
  offenders: (repository) =>
    repository
      .under('src/core')
      .filter(({ path }) => path !== clockFile)
      .flatMap((source) => found(source, isImpure, 'is impure')),
  broken: [
    { files: { 'src/core/a.ts': 'const a = Math.random()' }, says: [/^src\/core\/a\.ts:1 is impure: Math\.random/] },
    { files: { 'src/core/a.ts': 'const a = process.env.A' }, says: [/process/] },
    { files: { 'src/core/a.ts': 'setTimeout(() => console.log(1), 1)' }, says: [/setTimeout/, /console/] },
    { files: { 'src/core/a.ts': `import { createHash, randomUUID } from 'node:crypto'` }, says: [/randomUUID/] },
  ],
  kept: [
    {
      'src/core/a.ts': `import { createHash } from 'node:crypto'\n// process.env\nconst a = { process: 1, fetch: Math.max(1) }`,
    },
    { 'src/store/a.ts': 'const a = process.pid + Math.random()' },
  ],
}
