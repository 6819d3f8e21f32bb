import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'

/** Where a declaration stands. */
export interface Place {
  readonly path: string
  readonly start: number
  readonly end: number
}

interface Declared extends Place {
  /** A function, constant, type or class by its name; a member of a class as `Class.member`. */
  readonly name: string
}

/**
 * The declarations of a source tree by their names. An anchor is such a name, so that code may move from file to file; where the name
 * stands in several files, an ending of the file's path goes before it: `sqlite/database.ts spelled`. A file alone is an anchor
 * for what stands outside declarations.
 */
export class Anchors {
  readonly #root: string
  readonly #files: readonly string[]
  readonly #texts = new Map<string, string>()
  readonly #declared = new Map<string, Declared[]>()

  constructor(root: string) {
    this.#root = root
    this.#files = sourcesIn(root)
    for (const path of this.#files) {
      for (const one of declarationsIn(path, this.text(path))) {
        this.#declared.set(one.name, [...(this.#declared.get(one.name) ?? []), one])
      }
    }
  }

  text(path: string): string {
    const known = this.#texts.get(path)
    if (known !== undefined) return known
    const text = readFileSync(join(this.#root, path), 'utf8')
    this.#texts.set(path, text)
    return text
  }

  /** Every place that an anchor may mean. It should be one. */
  places(anchor: string): readonly Place[] {
    const [, ending, name = ''] = /^(?:(\S+\.ts))?(?: ?(\S+))?$/.exec(anchor) ?? []
    const isThere = ({ path }: { readonly path: string }) => ending === undefined || `/${path}`.endsWith(`/${ending}`)
    if (name !== '') return (this.#declared.get(name) ?? []).filter(isThere)
    return this.#files
      .filter((path) => isThere({ path }))
      .map((path) => ({ path, start: 0, end: this.text(path).length }))
  }
}

function sourcesIn(root: string): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('testing/'))
    .map((path) => `src/${path}`)
    .sort()
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly declaration?: Node | null
  readonly declarations?: readonly Node[]
  readonly id?: (Node & { readonly name: string }) | null
  readonly key?: Node & { readonly name?: string; readonly value?: unknown }
  readonly body?: Node | { readonly body: readonly Node[] } | readonly Node[]
}

function declarationsIn(path: string, text: string): Declared[] {
  const { body } = parseAst(text, { lang: 'ts' }, path) as unknown as { readonly body: readonly Node[] }
  return body.flatMap((node) => declaredBy(node.declaration ?? node, node)).map((one) => ({ ...one, path }))
}

function declaredBy(node: Node, { start, end }: Node): Omit<Declared, 'path'>[] {
  const whole = (name: string) => ({ name, start, end })
  if (node.declarations !== undefined) return node.declarations.flatMap(({ id }) => (id ? [whole(id.name)] : []))
  if (!node.id) return []
  const { name } = node.id
  const members =
    node.type === 'ClassDeclaration' && node.body !== undefined && 'body' in node.body ? node.body.body : []
  if (!Array.isArray(members)) return [whole(name)]
  return [whole(name), ...(members as readonly Node[]).flatMap((member) => memberOf(name, member))]
}

function memberOf(className: string, { key, start, end }: Node): Omit<Declared, 'path'>[] {
  if (key?.name === undefined) return []
  return [{ name: `${className}.${key.type === 'PrivateIdentifier' ? '#' : ''}${key.name}`, start, end }]
}
