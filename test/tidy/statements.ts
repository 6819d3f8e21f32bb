// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the samples are programs, written as text.
import { isNode, type Node, type Repository, type Source, walk } from './repository.ts'
import type { Rule } from './rule.ts'

/**
 * Apply what the migrations hold, which are texts of the program too, but are known to them only as a list. Their own
 * statements are still looked at by every reader of that file.
 */
const migrators = ['src/store/migrations/migrate.ts', 'src/store/migrations/empty-store.ts']

/** Where statements come from; a rule that finds none beside it is blind. */
const ground = 'src/store/statement.ts'

/** A statement as the program text makes it: its name where that can be computed, and whether a request could shape it. */
interface Made {
  readonly place: string
  readonly name: string | undefined
  readonly isFixed: boolean
}

const isFunction = ({ type }: Node) => /Function/.test(type)

function isMaking({ type, callee }: Node): boolean {
  return type === 'CallExpression' && isNode(callee) && (callee.name === 'both' || callee.name === 'dialects')
}

/** The statements of one file. One that a function makes counts once for each call of that function, all at load time. */
function madeIn(source: Source): Made[] {
  const made: Made[] = []
  walk(source.program, (node, above) => {
    if (!isMaking(node)) return
    const [name] = node.arguments as Node[]
    const makers = above.filter(isFunction)
    const [maker] = makers
    if (maker === undefined) made.push({ place: source.at(node), name: evaluated(name, new Map()), isFixed: true })
    else if (makers.length > 1) made.push({ place: source.at(node), name: undefined, isFixed: false })
    else made.push(...madeBy(source, node, maker, above[above.indexOf(maker) + 1]))
  })
  return made
}

function madeBy(source: Source, node: Node, maker: Node, holder: Node | undefined): Made[] {
  const [name] = node.arguments as Node[]
  const calls = callsOf(source, nameOf(maker) ?? nameOf(holder))
  if (calls.length === 0) return [{ place: source.at(node), name: undefined, isFixed: false }]
  return calls.map(({ call, isAtLoad }) => {
    const given = (maker.params as Node[]).map(
      (param, index) => [String(param.name), (call.arguments as Node[])[index]] as const,
    )
    return { place: source.at(node), name: evaluated(name, new Map(given)), isFixed: isAtLoad }
  })
}

/** The uses of a function by its name. Any use other than a call might call it at any time. */
function callsOf(source: Source, name: string | undefined): { call: Node; isAtLoad: boolean }[] {
  const calls: { call: Node; isAtLoad: boolean }[] = []
  walk(source.program, (node, above) => {
    const [parent] = above
    if (node.type !== 'Identifier' || node.name !== name || parent?.id === node) return
    const isCall = parent?.type === 'CallExpression' && parent.callee === node
    calls.push({ call: isCall ? parent : { ...node, arguments: [] }, isAtLoad: isCall && !above.some(isFunction) })
  })
  return calls
}

function nameOf(node: Node | undefined): string | undefined {
  return isNode(node?.id) ? String(node.id.name) : undefined
}

function evaluated(node: Node | undefined, given: ReadonlyMap<string, Node | undefined>): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node?.type === 'Identifier') return evaluated(given.get(String(node.name)), new Map())
  if (node?.type !== 'TemplateLiteral') return undefined
  const parts = (node.expressions as Node[]).map((part) => evaluated(part, given))
  if (parts.includes(undefined)) return undefined
  return (node.quasis as { value: { cooked: string } }[])
    .map(({ value }, index) => value.cooked + (parts[index] ?? ''))
    .join('')
}

/** Where statements stand: in the store, and in the parts. */
function sourcesOf(repository: Repository): Source[] {
  return [...repository.under('src/store'), ...repository.under('src/parts')]
}

function allMade(repository: Repository): Made[] {
  return sourcesOf(repository)
    .filter(({ path }) => !migrators.includes(path))
    .flatMap(madeIn)
}

export const fixedStatements: Rule = {
  sentence: 'every statement is made while its module loads, so that no value of a request can be part of its text',
  offenders: (repository) =>
    allMade(repository)
      .filter(({ isFixed }) => !isFixed)
      .map(({ place }) => `${place} makes a statement at run time: pass values as $1, $2…`),
  broken: [
    {
      files: { 'src/store/a.ts': 'function* a(id) { yield both("a", `select ${id}`) }' },
      says: [/^src\/store\/a\.ts:1 makes/],
    },
    {
      files: { 'src/store/a.ts': 'const of = (b) => both(`a ${b}`, `select ${b}`)\nfunction* c(d) { yield of(d) }' },
      says: [/at run time/],
    },
    {
      files: { 'src/store/a.ts': 'const of = (b) => both(`a ${b}`, b)\nexport const c = texts.map(of)' },
      says: [/run time/],
    },
    { files: { 'src/store/a.ts': 'export const a = (b) => both(b, b)\nexport { a as c }' }, says: [/run time/] },
    { files: { 'src/store/a.ts': 'class A { sql(b) { return dialects("a", { sqlite: b }) } }' }, says: [/run time/] },
  ],
  kept: [
    { 'src/store/a.ts': 'const columns = "b, c"\nconst a = both("a", `select ${columns} from belfry.run`)' },
    { 'src/store/a.ts': 'const of = (b: string) => both(`a ${b}`, `from ${b}`)\nconst all = [of("c"), of("d")]' },
    { 'src/store/a.ts': 'const a = of("a", "b")\nfunction of(name: string, b: string) { return both(name, b) }' },
  ],
}

export const uniqueStatements: Rule = {
  sentence: 'every statement has a name of its own, because PostgreSQL prepares statements by their names',
  offenders(repository) {
    const made = allMade(repository).filter(({ isFixed }) => isFixed)
    if (made.length === 0 && repository.files.has(ground)) return [`${ground} is there, but no statement was found`]
    const places = new Map<string, string[]>()
    for (const { name, place } of made) if (name !== undefined) places.set(name, [...(places.get(name) ?? []), place])
    return [
      ...made.filter(({ name }) => name === undefined).map(({ place }) => `${place}: the name is not plain text`),
      ...[...places]
        .filter(([, at]) => at.length > 1)
        .map(([name, at]) => `${at.join(' and ')} share the name "${name}"`),
    ]
  },
  broken: [
    {
      files: { 'src/store/a.ts': 'const a = both("a", "b")', 'src/store/b.ts': '\nconst a = dialects("a", {})' },
      says: [/^src\/store\/a\.ts:1 and src\/store\/b\.ts:2 share the name "a"/],
    },
    {
      files: { 'src/store/a.ts': 'const of = (b: string) => both("a", b)\nconst all = [of("c"), of("d")]' },
      says: [/"a"/],
    },
    { files: { 'src/store/a.ts': 'const a = both(b + c, "d")' }, says: [/not plain text/] },
    {
      files: { 'src/store/a.ts': 'const a = both("a", "b")', 'src/parts/b/c.ts': 'const a = both("a", "c")' },
      says: [/share the name "a"/],
    },
    {
      files: { 'src/store/statement.ts': '', 'src/store/a.ts': 'const a = made("a", "b")' },
      says: [/no statement was found/],
    },
  ],
  kept: [
    { 'src/store/a.ts': 'const of = (b: string) => both(`a ${b}`, b)\nconst all = [of("c"), of("d"), both("a", "b")]' },
    { 'src/store/a.ts': 'const a = both("a", "b")', 'test/store/a.ts': 'const a = both("a", "b")' },
  ],
}

/** Texts of statements, whole or in part. A list that a statement hands over itself has the columns that it names. */
const everyColumn = /\b(select|returning|distinct)\s+\*(?!\s+from\s+unnest\b)|\b\w+\.\*|,\s*\*(?=\s|$)/i

function textsIn(source: Source): { at: string; text: string }[] {
  const texts: { at: string; text: string }[] = []
  walk(source.program, (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') texts.push({ at: source.at(node), text: node.value })
    if (node.type !== 'TemplateLiteral') return
    const text = (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('x')
    texts.push({ at: source.at(node), text })
  })
  return texts
}

export const namedColumns: Rule = {
  sentence: 'no statement selects every column, because a newer version may add one while an older worker goes on',
  offenders: (repository) =>
    sourcesOf(repository)
      .filter(({ path }) => !path.startsWith('src/store/migrations/'))
      .flatMap(textsIn)
      .filter(({ text }) => everyColumn.test(text))
      .map(({ at }) => `${at} selects every column: name them, as columnsOf does`),
  broken: [
    { files: { 'src/store/a.ts': 'const a = both("a", "select * from belfry.run")' }, says: [/^src\/store\/a\.ts:1 /] },
    {
      files: { 'src/store/a.ts': 'const a = (b) => `select s.*, ${b} as now from belfry.schedule s`' },
      says: [/every/],
    },
    { files: { 'src/store/a.ts': 'const a = "delete from belfry.lease returning *"' }, says: [/every column/] },
    { files: { 'src/store/a.ts': 'const a = `select ctid as place, * from belfry.ready`' }, says: [/every column/] },
    { files: { 'src/store/a.ts': 'const a = `select\n  *\n from ${b}`' }, says: [/every column/] },
  ],
  kept: [
    { 'src/store/a.ts': 'const a = both("a", `select ${columnsOf("run")}, count(*) from belfry.run`)' },
    { 'src/store/a.ts': 'const a = "insert into belfry.run (id) select * from unnest($1::bigint[])"' },
    { 'src/store/a.ts': 'const a = `select floor($1 * 1000) as now, 2 * 3 as six` // select * from' },
    { 'src/store/migrations/0001-a.ts': 'const a = "insert into b select * from c"' },
  ],
}
