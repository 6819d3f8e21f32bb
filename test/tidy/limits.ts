import { isNode, linesOf, type Node, type Repository, rootName, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

const fileLinesMax = 400
const functionLinesMax = 60
const folderFilesMax = 25
const portMethodsMax = 20

export const shortFiles: Rule = {
  sentence: `no file of code is longer than ${fileLinesMax} lines`,
  offenders: ({ code }: Repository) =>
    code
      .map(({ path, text }) => ({ path, lines: linesOf(text.trimEnd()).length }))
      .filter(({ lines }) => lines > fileLinesMax)
      .map(({ path, lines }) => `${path} has ${lines} lines, at most ${fileLinesMax}`),
  broken: [{ files: { 'src/a.ts': 'a()\n'.repeat(401) }, says: [/^src\/a\.ts has 401 lines/] }],
  kept: [{ 'scripts/a.mjs': 'a()\n'.repeat(400) }],
}

export const smallFolders: Rule = {
  sentence: `no folder of src has more than ${folderFilesMax} files directly in it`,
  offenders(repository) {
    const files = new Map<string, number>()
    for (const { path } of repository.under('src')) {
      const folder = path.slice(0, path.lastIndexOf('/'))
      files.set(folder, (files.get(folder) ?? 0) + 1)
    }
    return [...files]
      .filter(([, count]) => count > folderFilesMax)
      .map(
        ([folder, count]) =>
          `${folder} has ${count} files, at most ${folderFilesMax}: give what belongs together a folder`,
      )
  },
  broken: [{ files: filesIn('src/a', 26), says: [/^src\/a has 26 files/] }],
  kept: [{ ...filesIn('src/a', 25), ...filesIn('src/a/b', 25), ...filesIn('test/a', 40) }],
}

function filesIn(folder: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/f${index}.ts`, '']))
}

const portFile = 'src/store/port.ts'

export const smallPort: Rule = {
  sentence: `the port of the store has at most ${portMethodsMax} methods, so that it can be read in one sitting`,
  offenders(repository) {
    const ports = repository.code.filter(({ path }) => path === portFile).flatMap(storeIn)
    if (ports.length === 0 && repository.files.has(portFile)) return [`${portFile} has no interface Store any more`]
    const methods = ports.flatMap(({ body }) => (body as Node).body as Node[]).filter(isMethod)
    return methods.length > portMethodsMax
      ? [`${portFile} has ${methods.length} methods, at most ${portMethodsMax}: make it a verb or a read`]
      : []
  },
  broken: [
    { files: { [portFile]: portOf(21) }, says: [/^src\/store\/port\.ts has 21 methods/] },
    { files: { [portFile]: 'export interface Other {}' }, says: [/no interface Store/] },
  ],
  kept: [{ [portFile]: `${portOf(20)}\nexport interface Other {\n${'b(): void\n'.repeat(30)}}` }, {}],
}

function storeIn({ program }: Source): Node[] {
  const found: Node[] = []
  walk(program, (node) => {
    if (node.type === 'TSInterfaceDeclaration' && rootName(node.id) === 'Store') found.push(node)
  })
  return found
}

/** A field of a function type is called like a method. */
function isMethod({ type, typeAnnotation }: Node): boolean {
  if (type === 'TSMethodSignature') return true
  const field = type === 'TSPropertySignature' && isNode(typeAnnotation) ? typeAnnotation.typeAnnotation : undefined
  return isNode(field) && field.type === 'TSFunctionType'
}

function portOf(methods: number): string {
  const fields = Array.from({ length: methods }, (_, index) => (index === 0 ? 'a: () => void' : `a${index}(): void`))
  return `export interface Store {\n  readonly place: string\n${fields.join('\n')}\n}`
}

const isFunction = ({ type }: Node) => /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)

/** A function that declares tests is a chapter of them and nothing that anybody calls to have something done. */
function isChapter(node: Node): boolean {
  let isDeclaring = false
  walk(node, ({ type, callee }) => {
    if (type === 'CallExpression' && /^(it|test|describe)$/.test(rootName(callee))) isDeclaring = true
  })
  return isDeclaring
}

export const shortFunctions: Rule = {
  sentence: `no function is longer than ${functionLinesMax} lines, nested ones counted by themselves and in their parents`,
  offenders: ({ code }) =>
    code.flatMap((source) => {
      const found: string[] = []
      walk(source.program, (node) => {
        if (!isFunction(node)) return
        const lines = source.lineOf(node.end) - source.lineOf(node.start) + 1
        if (lines > functionLinesMax && !isChapter(node))
          found.push(`${source.at(node)} is a function of ${lines} lines, at most ${functionLinesMax}`)
      })
      return found
    }),
  broken: [
    { files: { 'src/a.ts': `\nfunction a() {\n${'b()\n'.repeat(59)}}` }, says: [/^src\/a\.ts:2 .* 61 lines/] },
    { files: { 'src/a.ts': `class A { a() {\n${'b()\n'.repeat(59)}} }` }, says: [/^src\/a\.ts:1/] },
    {
      files: { 'test/a.test.ts': `describe('a', () => { it('b', () => {\n${'c()\n'.repeat(80)}}) })` },
      says: [/82 lines/],
    },
    { files: { 'src/a.ts': `const a = () => [() => {\n${'b()\n'.repeat(80)}}]` }, says: [/82 lines/, /82 lines/] },
  ],
  kept: [
    { 'src/a.ts': `function a() {\n${'b("}")\n'.repeat(58)}}\nconst c = \`\n${'}\n'.repeat(99)}\`` },
    { 'test/a.test.ts': `describe.each([1])('a', () => {\n${'it("b", () => c())\n'.repeat(80)}})` },
    { 'test/a.test.ts': `onEachDatabase((scene) => {\n${'it.each([1])("b", () => c())\n'.repeat(80)}})` },
  ],
}
