import { linesOf, type Node, type Repository, rootName, walk } from './repository.ts'
import type { Rule } from './rule.ts'

const fileLinesMax = 400
const functionLinesMax = 70

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
    { files: { 'src/a.ts': `\nfunction a() {\n${'b()\n'.repeat(69)}}` }, says: [/^src\/a\.ts:2 .* 71 lines/] },
    { files: { 'src/a.ts': `class A { a() {\n${'b()\n'.repeat(69)}} }` }, says: [/^src\/a\.ts:1/] },
    {
      files: { 'test/a.test.ts': `describe('a', () => { it('b', () => {\n${'c()\n'.repeat(80)}}) })` },
      says: [/82 lines/],
    },
    { files: { 'src/a.ts': `const a = () => [() => {\n${'b()\n'.repeat(80)}}]` }, says: [/82 lines/, /82 lines/] },
  ],
  kept: [
    { 'src/a.ts': `function a() {\n${'b("}")\n'.repeat(68)}}\nconst c = \`\n${'}\n'.repeat(99)}\`` },
    { 'test/a.test.ts': `describe.each([1])('a', () => {\n${'it("b", () => c())\n'.repeat(80)}})` },
    { 'test/a.test.ts': `onEachDatabase((scene) => {\n${'it.each([1])("b", () => c())\n'.repeat(80)}})` },
  ],
}
