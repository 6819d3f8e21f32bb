import { isNode, isReference, type Node, type Repository, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

const storePort = [
  'port',
  'audit/actor',
  'tokens/token-steps',
  'event-view',
  'section',
  'views',
  'health-views',
  'workers/process-identity',
].map((file) => `store/${file}.ts`)
/** What a kind of target is, and how programs write those of the kernel. */
const targetInputs = [
  'targets/kind.ts',
  'targets/secret-schema.ts',
  'targets/command/command-target.ts',
  'targets/http/http-target.ts',
  'targets/handler/kind.ts',
]
const everything = ['']
/** What the kernel and the parts make together. */
const table = ['table.ts', 'kinds.ts', 'routes.ts', 'parts-face.ts', 'features.ts']
/** A private store is put together as the library itself is. */
const composed = ['open-store.ts', 'parts.ts']

/** What each layer may import besides itself: folders of src, or single files where only a face is public. */
const directions: Readonly<Record<string, readonly string[]>> = {
  core: [],
  store: ['core/'],
  targets: ['core/'],
  engine: ['core/', ...storePort, 'targets/'],
  operations: ['core/', ...storePort, 'engine/engine.ts', 'engine/events.ts', ...targetInputs],
  library: [
    'core/',
    ...storePort,
    'engine/engine.ts',
    'engine/events.ts',
    'targets/',
    'operations/',
    ...table,
    ...composed,
  ],
  trust: ['core/'],
  doors: [
    'core/',
    'store/views.ts',
    'store/health-views.ts',
    'operations/',
    'trust/',
    'engine/events.ts',
    'targets/kind.ts',
    ...table,
  ],
  client: ['core/', 'operations/', ...table],
  testing: ['core/', 'store/'],
  parts: ['core/', 'store/', 'engine/', 'targets/', 'operations/', 'doors/', 'trust/', 'library/part.ts', 'part.ts'],
  'part.ts': ['store/part.ts', 'targets/kind.ts', 'engine/part.ts', 'operations/part.ts', 'library/part.ts', 'doors/'],
  'features.ts': ['core/', 'operations/', 'part.ts'],
  'parts.ts': ['parts/', 'part.ts', 'features.ts'],
  'parts-face.ts': ['parts.ts', 'part.ts', 'engine/', 'library/part.ts', 'doors/'],
  'kinds.ts': ['parts.ts', 'part.ts', 'features.ts', 'targets/'],
  'table.ts': ['core/', 'parts.ts', 'part.ts', 'features.ts', 'operations/'],
  'routes.ts': ['table.ts', 'operations/'],
  'open-store.ts': ['parts.ts', 'store/'],
  'core.ts': ['core/'],
  'testing.ts': ['testing/'],
  'client.ts': ['client/', 'core/'],
  'index.ts': everything,
  'cli.ts': everything,
  'typed-command.ts': everything,
  'sessions.ts': everything,
  'serving.ts': everything,
  'store-guard.ts': everything,
}

/** Layers that ask the store for its verbs and reads by their functions. */
const askers = ['engine', 'operations', 'library', 'doors', 'parts']

/** Whether a module of the store is imported for nothing but `store.do(verb, …)` and `store.look(read, …)`. */
function isOnlyAskedFor({ program }: Source, specifier: string): boolean {
  const names = new Set<string>()
  let isValue = true
  walk(program, (node) => {
    if (node.type !== 'ImportDeclaration' || (node.source as { value?: unknown }).value !== specifier) return
    if (node.importKind === 'type') isValue = false
    for (const { local } of node.specifiers as { local: { name: string } }[]) names.add(local.name)
  })
  if (!isValue || names.size === 0) return false
  let isKept = true
  walk(program, (node, [parent]) => {
    if (names.has(String(node.name)) && parent?.type !== 'ImportSpecifier' && isReference(node, parent)) {
      isKept &&= isHandedOver(node, parent)
    }
  })
  return isKept
}

function isHandedOver(node: Node, parent: Node | undefined): boolean {
  if (parent?.type !== 'CallExpression' || (parent.arguments as unknown[])[0] !== node) return false
  const { callee } = parent
  const asked =
    isNode(callee) && callee.type === 'MemberExpression' && isNode(callee.property) ? callee.property.name : ''
  return asked === 'do' || asked === 'look'
}

/** Core is handed its time and its luck; of Node it may use only what computes. */
const coreModules = ['node:assert', 'node:crypto']

function breach(source: Source, specifier: string, packages: ReadonlySet<string>): string | undefined {
  const { path } = source
  const layer = path.split('/')[1] ?? ''
  const allowed = directions[layer]
  if (allowed === undefined) return `is in no layer: give ${layer} its directions`
  if (specifier.startsWith('.')) {
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1)
    const inside = /^src\/(.+)$/.exec(target)?.[1]
    if (inside === undefined) return `imports ${target}, which is outside src`
    const part = /^parts\/[^/]+\//.exec(inside)?.[0]
    if (part !== undefined && layer === 'parts' && !path.startsWith(`src/${part}`)) {
      return `imports ${inside}, which is another part`
    }
    // The library names the types of parts, and nothing else of them.
    if (part !== undefined && !['parts', 'parts.ts', 'index.ts'].includes(layer)) {
      return `imports ${inside}; only parts.ts knows the parts`
    }
    const isAsked = inside.startsWith('store/') && askers.includes(layer) && isOnlyAskedFor(source, specifier)
    const isAllowed = isAsked || inside.startsWith(`${layer}/`) || allowed.some((start) => inside.startsWith(start))
    return isAllowed ? undefined : `imports ${inside}, but ${layer} may import only ${allowed.join(', ') || 'itself'}`
  }
  if (layer === 'core') return coreModules.includes(specifier) ? undefined : `imports ${specifier}; core is pure`
  if (specifier.startsWith('node:')) return undefined
  const [scope, name] = specifier.split('/')
  const wanted = scope?.startsWith('@') ? `${scope}/${name}` : (scope ?? '')
  if (packages.has(wanted)) return undefined
  if (!packages.has(`optional ${wanted}`)) return `imports ${wanted}, which is not among the dependencies`
  // An optional peer may not be there: only its types, and what is loaded on demand, may come from it.
  const plain = new RegExp(`^(?:import(?! type)|export) [^;]*?from '${wanted}(?:/[^']*)?'`, 'm')
  return plain.test(source.text) ? `imports ${wanted}, an optional peer, which must be loaded on demand` : undefined
}

function packagesOf({ files }: Repository): Set<string> {
  const { dependencies = {}, peerDependenciesMeta = {} } = JSON.parse(files.get('package.json') ?? '{}') as {
    dependencies?: object
    peerDependenciesMeta?: object
  }
  return new Set([...Object.keys(dependencies), ...Object.keys(peerDependenciesMeta).map((name) => `optional ${name}`)])
}

export const importDirections: Rule = {
  sentence: 'every import in src goes in the direction its layer allows, and to packages that come with an install',
  offenders(repository) {
    const packages = packagesOf(repository)
    return repository.under('src').flatMap((source) =>
      source.specifiers.flatMap((specifier) => {
        const problem = breach(source, specifier, packages)
        return problem === undefined ? [] : [`${source.path} ${problem}`]
      }),
    )
  },
  broken: [
    {
      files: {
        'package.json': '{ "peerDependenciesMeta": { "ai": { "optional": true } } }',
        'src/parts/a/b.ts': `import type { A } from 'ai'\nconst { c } = await import('ai')`,
        'src/parts/a/c.ts': `import { d } from 'ai'`,
      },
      says: [/src\/parts\/a\/c\.ts imports ai, an optional peer/],
    },
    {
      files: { 'src/core/a.ts': `import { b } from '../store/b.ts'` },
      says: [/src\/core\/a\.ts imports store\/b\.ts/],
    },
    { files: { 'src/core/a.ts': `import type { B } from '../store/b.ts'` }, says: [/store\/b\.ts/] },
    { files: { 'src/core/a.ts': `export * from '../store/b.ts'` }, says: [/store\/b\.ts/] },
    { files: { 'src/core/a.ts': `const b = await import('../store/b.ts')` }, says: [/store\/b\.ts/] },
    { files: { 'src/core/a.ts': `type B = import('../store/b.ts').B` }, says: [/store\/b\.ts/] },
    { files: { 'src/core/a.ts': `import { readFileSync } from 'node:fs'` }, says: [/node:fs; core is pure/] },
    { files: { 'src/core/a.ts': `import 'croner'` }, says: [/croner; core is pure/] },
    {
      files: { 'src/engine/a.ts': `import '../store/lease.ts'\nimport '../store/port.ts'` },
      says: [/store\/lease\.ts/],
    },
    { files: { 'src/doors/cli/a.ts': `import '../../store/port.ts'` }, says: [/store\/port\.ts/] },
    { files: { 'src/doors/cli/a.ts': `import '../../parts/a/b.ts'` }, says: [/only parts\.ts knows/] },
    { files: { 'src/cli.ts': `import './parts/a/b.ts'` }, says: [/only parts\.ts knows/] },
    { files: { 'src/parts/a/b.ts': `import '../c/d.ts'\nimport '../a/e.ts'` }, says: [/another part/] },
    {
      files: { 'src/engine/a.ts': `import { take } from '../store/b.ts'\nstore.do(take, 1)\ntake(context)` },
      says: [/store\/b\.ts/],
    },
    {
      files: { 'src/engine/a.ts': `import type { Row } from '../store/b.ts'\nlet row: Row` },
      says: [/store\/b\.ts/],
    },
    { files: { 'src/store/a.ts': `import '../../test/b.ts'` }, says: [/test\/b\.ts, which is outside src/] },
    {
      files: { 'src/store/a.ts': `import '@a/b/c'`, 'package.json': '{ "devDependencies": { "@a/b": "1" } }' },
      says: [/@a\/b/],
    },
    {
      files: { 'src/novelty/a.ts': `import './b.ts'`, 'src/novelty.ts': `import './novelty/a.ts'` },
      says: [/layer/, /layer/],
    },
  ],
  kept: [
    {
      'package.json': '{ "dependencies": { "pg": "8", "@a/b": "1" } }',
      'src/core/cron/a.ts': `import { createHash } from 'node:crypto'\nimport '../../core/b.ts'\nimport './c.ts'`,
      'src/store/a.ts': `import 'node:fs'\nimport '../core/b.ts'\nimport 'pg'\nimport '@a/b/c'`,
      'src/engine/a.ts': `import { find, take } from '../store/b.ts'\nawait store.do(take, 1)\nstore.look(find)`,
      'src/index.ts': `import './doors/cli/a.ts'\nimport './store/a.ts'`,
      'test/a.test.ts': `import '../src/store/a.ts'\nimport 'croner'`,
    },
  ],
}
