import { linesOf } from './repository.ts'
import type { Rule } from './rule.ts'

const unfinished = /\b(todo|fixme|hack|xxx|for now)\b/i

export const finishedComments: Rule = {
  sentence: 'no comment says that its code is unfinished',
  offenders: ({ code }) =>
    code.flatMap((source) =>
      source.comments.flatMap((comment) => {
        const [word] = unfinished.exec(comment.value.replace(/\s+(\* )?/g, ' ')) ?? []
        return word === undefined ? [] : [`${source.at(comment)} says "${word}"`]
      }),
    ),
  broken: [
    { files: { 'src/a.ts': '// TODO: more' }, says: [/^src\/a\.ts:1 says "TODO"/] },
    { files: { 'src/a.ts': 'a() // works for now' }, says: [/for now/] },
    { files: { 'scripts/a.mjs': '/**\n * Enough for\n * now, a hack.\n */' }, says: [/for now/] },
    { files: { 'src/a.ts': '// FIXME', 'src/b.ts': '/* xxx */' }, says: [/FIXME/, /xxx/] },
  ],
  kept: [{ 'src/a.ts': `const a = 'TODO' // The todolist of shackles is kept for nowhere.` }],
}

/** Where this was once built is nobody's path, and who serves packages is the user's choice. */
const places = [
  { what: 'a path of one machine', sign: /(?<![\w.)}/-])(?:file:\/\/)?\/(?:(?:work|root)\/|tmp(?:\/|(?=['"`\s]|$)))/ },
  {
    what: 'a package registry',
    sign: /https?:\/\/[\w.-]*(?:registry|artifactory|nexus|verdaccio)|^\s*registry\s*=/,
  },
]

export const noMachines: Rule = {
  sentence: 'no file names a path of one machine or a package registry',
  offenders: ({ files }) =>
    [...files].flatMap(([path, text]) =>
      linesOf(text).flatMap((line, index) =>
        places
          .filter(({ sign }) => sign.test(line))
          .map(({ what }) => `${path}:${index + 1} names ${what}: ${line.trim()}`),
      ),
    ),
  // The samples are put together here, or this file would name what no file may name.
  broken: [
    { files: { 'src/a.ts': `const a = '${'/'}work/main'` }, says: [/^src\/a\.ts:1 names a path of one machine/] },
    { files: { 'docs/a.md': `see \`${'/'}root/.npmrc\`` }, says: [/path of one machine/] },
    { files: { 'test/a.ts': `\nmkdtemp('${'/'}tmp')` }, says: [/^test\/a\.ts:2/] },
    { files: { 'test/a.ts': `import 'file://${'/'}tmp/a.mjs'` }, says: [/path of one machine/] },
    { files: { '.npmrc': `registry${'='}http://localhost:4873` }, says: [/package registry/] },
    { files: { 'package-lock.json': `"https://${'registry'}.example.org/a.tgz"` }, says: [/package registry/] },
  ],
  kept: [{ 'src/a.ts': `const a = ['.${'/'}work/b', 'https://host/root/', 'tmp/', \`\${base}/tmp/c\`] // a/tmp/b` }],
}

export const lockWithoutHosts: Rule = {
  sentence: 'the lockfile exists, pins every package by its hash, and leaves the registry to whoever installs',
  offenders({ files }) {
    const text = files.get('package-lock.json')
    if (text === undefined) return ['package-lock.json is missing, so nothing is pinned']
    const { packages = {} } = JSON.parse(text) as {
      packages?: Record<string, { resolved?: string; integrity?: string }>
    }
    return Object.entries(packages).flatMap(([name, { resolved, integrity }]) => [
      ...(resolved === undefined ? [] : [`package-lock.json has "resolved" for ${name}`]),
      ...(name === '' || integrity !== undefined ? [] : [`package-lock.json has no hash for ${name}`]),
    ])
  },
  broken: [
    { files: {}, says: [/missing/] },
    {
      files: { 'package-lock.json': '{"packages":{"a":{"resolved":"b","integrity":"c"}}}' },
      says: [/"resolved" for a/],
    },
    { files: { 'package-lock.json': '{"packages":{"":{},"a":{}}}' }, says: [/no hash for a/] },
  ],
  kept: [{ 'package-lock.json': '{"packages":{"":{},"a":{"integrity":"c"}}}' }],
}
