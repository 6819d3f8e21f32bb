import { basename } from 'node:path'
import type { Repository, Source } from './repository.ts'
import type { Rule } from './rule.ts'

/** Names that say nothing, so that anything ends up behind them. */
const emptyNames = /(^|-)(utils?|helpers?|manager|common|types|misc|shared)(-|\.|$)/

export const namesThatSay: Rule = {
  sentence: 'every file and folder of code is named after what it holds, not utils, helpers, manager, common or types',
  offenders: ({ code }) =>
    code
      .flatMap(({ path }) => path.split('/').map((name) => ({ path, name })))
      .filter(({ name }) => emptyNames.test(name))
      .map(({ path, name }) => `${path}: ${name} does not say what is inside`),
  broken: [
    { files: { 'src/core/utils.ts': '' }, says: [/^src\/core\/utils\.ts: utils/] },
    { files: { 'src/helpers/a.ts': '', 'src/lease-manager.ts': '' }, says: [/: helpers/, /: lease-manager/] },
    { files: { 'src/store/types.ts': '', 'test/common.ts': '' }, says: [/types/, /common/] },
  ],
  kept: [{ 'src/core/commoner.ts': '', 'src/core/type-parser.ts': '', 'src/store/utility-bill.ts': '' }],
}

/** What every folder of a kind has: a part and what layers take from parts, a noun of the table, a kind of target, what a terminal shows. */
const sharedNames = ['part', 'noun', 'kind', 'show']

export const oneName: Rule = {
  sentence: 'no two files of src have one name, but for those that every folder of a kind has, and the two databases',
  offenders(repository) {
    const paths = new Map<string, string[]>()
    for (const { path } of repository.under('src')) {
      const name = basename(path, '.ts')
      if (sharedNames.includes(name)) continue
      // The folders of the two databases have the same names, so that their difference is that of the databases.
      const place = path.replace('src/store/postgres/', 'src/store/sqlite/')
      const known = paths.get(name) ?? []
      if (!known.includes(place)) paths.set(name, [...known, place])
    }
    return [...paths.values()].filter(({ length }) => length > 1).map((twice) => `${twice.join(' and ')} have one name`)
  },
  broken: [
    {
      files: { 'src/core/gate.ts': '', 'src/store/runs/gate.ts': '' },
      says: [/^src\/core\/gate\.ts and src\/store\/runs\/gate\.ts have one name/],
    },
  ],
  kept: [
    {
      'src/parts/a/part.ts': '',
      'src/parts/b/part.ts': '',
      'src/store/sqlite/gate.ts': '',
      'src/store/postgres/gate.ts': '',
      'test/gate.ts': '',
    },
  ],
}

export const noBarrels: Rule = {
  sentence: 'no index file inside src only re-exports what lies beside it',
  offenders: ({ code }) =>
    code
      .filter(({ path }) => /^src\/.+\/index\.ts$/.test(path))
      .filter(({ program }) => (program.body as { type: string; source?: unknown }[]).every(isReExport))
      .map(({ path }) => `${path} only re-exports: import from the files themselves`),
  broken: [
    {
      files: { 'src/core/index.ts': `export * from './a.ts'\nexport { b } from './b.ts'` },
      says: [/^src\/core\/index/],
    },
  ],
  kept: [{ 'src/index.ts': `export * from './core/a.ts'`, 'src/targets/index.ts': 'export const kinds = []' }],
}

function isReExport({ type, source }: { type: string; source?: unknown }): boolean {
  return type === 'ExportAllDeclaration' || (type === 'ExportNamedDeclaration' && Boolean(source))
}

/** The modules that people or programs start from: all of the build that package.json names, itself or by its scripts. */
function entriesOf({ files }: Repository): string[] {
  const offers = files.get('package.json') ?? ''
  const scripts = [...offers.matchAll(/\bscripts\/[\w/-]+\.mjs\b/g)].map(([path]) => files.get(path) ?? '')
  const named = [offers, ...scripts].flatMap((text) => [...text.matchAll(/\bdist\/([\w/-]+)\.js\b/g)])
  return [...new Set(named.map(([, name]) => `src/${name}.ts`))]
}

/** Files a module names by a relative path, be it to import them or to start them as processes. */
function namedFiles(source: Source): string[] {
  const base = new URL(source.path, 'file:///')
  return [...source.text.matchAll(/(['"`])(\.{1,2}\/[\w./-]+)\.(?:ts|js)\1/g)].map(([, , path]) =>
    new URL(`${path}.ts`, base).pathname.slice(1),
  )
}

export const noDeadFiles: Rule = {
  sentence: 'every file in src is reached from something that package.json offers',
  offenders(repository) {
    const sources = new Map(repository.under('src').map((source) => [source.path, source]))
    const reached = new Set<string>()
    const waiting = entriesOf(repository)
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const source = sources.get(path)
      if (source === undefined || reached.has(path)) continue
      reached.add(path)
      waiting.push(...namedFiles(source))
    }
    return [...sources.keys()]
      .filter((path) => !reached.has(path))
      .map((path) => `${path} is dead: no entry of package.json reaches ${basename(path)}`)
  },
  broken: [
    {
      files: {
        'package.json': '{ "bin": "dist/a.js" }',
        'src/a.ts': '',
        'src/b.ts': `import './c.ts'`,
        'src/c.ts': '',
      },
      says: [/^src\/b\.ts is dead/, /^src\/c\.ts is dead/],
    },
    {
      files: { 'package.json': '{}', 'scripts/b.mjs': `import '../dist/c.js'`, 'src/c.ts': '' },
      says: [/^src\/c\.ts is dead/],
    },
  ],
  kept: [
    {
      'package.json': '{ "exports": { ".": "./dist/a.js" } }',
      'src/a.ts': `import type { B } from './b/b.ts'\nfork(new URL('./b/child.js', import.meta.url))`,
      'src/b/b.ts': `export { c } from '../c.ts'`,
      'src/b/child.ts': `await import('../c.ts')`,
      'src/c.ts': '',
    },
    {
      'package.json': '{ "scripts": { "b": "node scripts/b.mjs" } }',
      'scripts/b.mjs': `import '../dist/c.js'`,
      'src/c.ts': '',
    },
  ],
}
