import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

/** A node of the syntax tree, as far as the rules care: children are found by looking at every field. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface Comment {
  readonly value: string
  readonly start: number
  readonly end: number
}

/** A file of code, parsed: the rules look at what the compiler would see, so that no text or comment can fool them. */
export class Source {
  readonly path: string
  readonly text: string
  readonly program: Node
  readonly comments: readonly Comment[]
  /** The modules it imports or re-exports from, types included. */
  readonly specifiers: readonly string[]

  constructor(path: string, text: string) {
    const { program, comments, errors } = parseSync(path, text)
    if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
    this.path = path
    this.text = text
    this.program = program as unknown as Node
    this.comments = comments
    this.specifiers = specifiersOf(this.program)
  }

  lineOf(offset: number): number {
    return linesOf(this.text.slice(0, offset)).length
  }

  /** The place of an offence, as editors open it. */
  at({ start }: { start: number }): string {
    return `${this.path}:${this.lineOf(start)}`
  }
}

/** The files of a repository that its authors wrote, by path. Code is parsed once, when a rule first asks for it. */
export class Repository {
  readonly files: ReadonlyMap<string, string>
  #code: Source[] | undefined

  constructor(files: Iterable<readonly [string, string]>) {
    this.files = new Map(files)
  }

  get code(): readonly Source[] {
    this.#code ??= [...this.files].filter(([path]) => isCode(path)).map(([path, text]) => new Source(path, text))
    return this.#code
  }

  under(folder: string): readonly Source[] {
    return this.code.filter(({ path }) => path.startsWith(`${folder}/`))
  }
}

/** Reads what lies under a folder except what its `.gitignore` names, so that it works on a copy without `.git` too. */
export function readRepository(root: string): Repository {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').filter(Boolean)
  const isIgnored = (name: string) =>
    name === '.git' ||
    ignored.some((rule) => (rule.startsWith('*') ? name.endsWith(rule.slice(1)) : `${name}/` === rule))
  const pathsIn = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      if (isIgnored(entry.name)) return []
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? pathsIn(path) : [path]
    })
  return new Repository(pathsIn('').map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** Visits every node under `node`, each with the nodes above it, nearest first. */
export function walk(
  node: Node,
  visit: (node: Node, above: readonly Node[]) => void,
  above: readonly Node[] = [],
): void {
  visit(node, above)
  const inside = [node, ...above]
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, inside)
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** The name a chain of members and calls starts with: `it` of `it.each(…).skip`. */
export function rootName(node: unknown): string {
  let root = node
  while (isNode(root) && root.type !== 'Identifier') root = root.object ?? root.callee ?? root.tag
  return isNode(root) ? String(root.name) : ''
}

/** Whether a name stands for a value here, and is not merely the name of a member. */
export function isReference(node: Node, parent: Node | undefined): boolean {
  if (node.type !== 'Identifier') return false
  if (parent === undefined) return true
  const isMember = (parent.property === node || parent.key === node) && parent.computed !== true
  return !isMember && !parent.type.startsWith('TS')
}

export function linesOf(text: string): string[] {
  return text.split('\n')
}

function isCode(path: string): boolean {
  return /\.(ts|mjs)$/.test(path)
}

function specifiersOf(program: Node): string[] {
  const found: string[] = []
  walk(program, ({ type, source, argument }) => {
    const named = type === 'TSImportType' ? (argument ?? source) : source
    if (/^(Import|Export|TSImportType)/.test(type) && isNode(named) && typeof named.value === 'string') {
      found.push(named.value)
    }
  })
  return found
}
