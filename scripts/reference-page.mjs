/** Writes the page about all operations from the table; `reference.mjs` puts it into its file, and a test compares. */

const doorNames = { library: 'library', cli: 'command line', http: 'HTTP', mcp: 'MCP' }

/** The page, from what `dist/operations` exports or what the tests import. */
export function operationsPage({ nouns, errorCodes, errorsOfAll, jsonSchemaOf, noteOf, kinds }) {
  const shapes = new Map()
  const schemaOf = (schema, io) => {
    const { $defs = {}, ...shown } = jsonSchemaOf(schema, io, kinds)
    for (const [name, shape] of Object.entries($defs)) shapes.set(name, told(shape, shapes))
    const { id } = io === 'output' ? noteOf(schema) : {}
    if (id === undefined) return told(shown, shapes)
    shapes.set(id, told(shown, shapes))
    return { $ref: `#/$defs/${id}` }
  }
  const chapters = Object.entries(nouns).flatMap(([noun, entry]) => chapter(noun, entry, schemaOf))
  const parts = [...opening(errorsOfAll), ...errorTable(errorCodes), ...contents(nouns), ...chapters]
  return `${[...parts, ...shapeChapter(shapes)].join('\n\n')}\n`
}

/** What only names a shape is described by it. */
function told(schema, shapes) {
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const ref = field.$ref ?? field.anyOf?.find(({ $ref }) => $ref !== undefined)?.$ref
    const shape = shapes.get(ref?.replace('#/$defs/', ''))
    return [name, { description: shape?.description, ...field }]
  })
  return properties.length === 0 ? schema : { ...schema, properties: Object.fromEntries(properties) }
}

function opening(errorsOfAll) {
  return [
    '# Operations',
    'Made from the table in `src/operations` by `npm run reference`; a test fails when this page is older than the table.',
    'A verb is defined once, and every door derives from it what it offers. **Of the doors that are named here the library ' +
      'is built**, as `belfry.<nouns>.<verb>`, **and [the command line](cli.md)**; the table already says which of the others ' +
      'each verb will have, and why it will lack one. In the library what a verb is about may come first, and everything else in an object behind it; or ' +
      'all of it in one object, as it will be at every other door.',
    'Durations are texts such as `90s` or `1h30m`, or whole ms in the field that ends in `Ms`; instants are ISO texts with ' +
      'an offset, and a `Date` in the library. Answers have durations in ms and instants in epoch ms. Unknown fields are ' +
      'refused, and everything that is wrong is told at once.',
    '## Errors',
    'An error has a `code`, a `message`, and may have a `hint` and `details`. The exit code of a command and the status of ' +
      `an HTTP answer follow from the code. Besides the codes named with it, every verb may answer ${codes(errorsOfAll)}, ` +
      'and every door `not-allowed`.',
  ]
}

function errorTable(errorCodes) {
  const rows = Object.entries(errorCodes).map(([code, { exit, status, says }]) => [`\`${code}\``, exit, status, says])
  return [table(['code', 'exit', 'status', 'means'], rows)]
}

function contents(nouns) {
  const lines = Object.entries(nouns).map(([noun, { plural, operations }]) => {
    const links = Object.values(operations).map(({ verb }) => `[${verb}](#${anchor(`${noun} ${verb}`)})`)
    return `- **${plural}**: ${links.join(', ')}`
  })
  return ['## Verbs', lines.join('\n')]
}

function chapter(noun, { says, plural, operations }, schemaOf) {
  const sections = Object.values(operations).flatMap((operation) => section(operation, plural, schemaOf))
  return [`## ${noun}`, says, ...sections]
}

function section(operation, plural, schemaOf) {
  const { noun, verb, says, input, output, local, errors } = operation
  const { shown, lacking } = doorsOf(operation)
  const fields = fieldRows(schemaOf(input, 'input'))
  const besides = Object.entries(local.shape).map(([name, field]) => [`\`${name}\``, described(field)])
  return [
    `### ${noun} ${verb}`,
    says,
    `${operation.effect} · needs \`${operation.scope}\`${operation.adminForCommands ? ', and `admin` for commands' : ''} · ${shown}`,
    ...lacking,
    ...(fields.length === 0 ? ['Takes nothing.'] : [table(['field', 'type', ''], fields)]),
    ...(besides.length === 0 ? [] : ['In the library, besides:', table(['option', ''], besides)]),
    ...answer(schemaOf(output, 'output')),
    errors.length === 0 ? 'Refuses nothing by itself.' : `Errors: ${codes(errors)}.`,
    `\`\`\`js\n${operation.examples.map((example) => libraryCall(operation, plural, example)).join('\n')}\n\`\`\``,
  ]
}

function doorsOf({ doors, verb, command }) {
  const has = Object.entries(doorNames).filter(([door]) => doors[door] === true)
  const named = has.map(([door, name]) => {
    return door === 'cli' && command !== undefined ? `${name} (\`${command.join(' ')}\`)` : name
  })
  const lacking = Object.entries(doorNames).filter(([door]) => typeof doors[door] === 'string')
  return {
    shown: named.join(', '),
    lacking: lacking.map(([door, name]) => `No ${name} for ${verb}: ${doors[door]}`),
  }
}

function answer(schema) {
  if (schema.type === 'object') return [`Answers${sentenceOf(schema)}:`, fieldTable(schema)]
  if (isChoice(schema)) return ['Answers one of these:', ...schema.anyOf.map(fieldTable)]
  const what = typeOf(schema).replace(/^list/, 'a list')
  return [`Answers ${what}.${schema.description === undefined ? '' : ` ${schema.description}`}`]
}

function isChoice({ anyOf }) {
  return anyOf?.every(({ type }) => type === 'object') === true
}

function sentenceOf({ description }) {
  return description === undefined ? '' : ` ${description.slice(0, 1).toLowerCase()}${description.slice(1, -1)}`
}

function fieldTable(schema) {
  return table(['field', 'type', ''], fieldRows(schema))
}

/** A row for each field, and for the fields inside it. The two fields that say one duration share a row. */
function fieldRows(schema, prefix = '') {
  const required = new Set(schema.required ?? [])
  const isTwin = (name) => schema.properties[name]?.description?.startsWith(`The same as ${name.slice(0, -2)}, in ms.`)
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !isTwin(name))
  return fields.flatMap(([name, field]) => {
    const names = [name, ...(isTwin(`${name}Ms`) ? [`${name}Ms`] : [])].map((one) => `\`${prefix}${one}\``)
    const need = required.has(name) ? '' : ', optional'
    const row = [
      names.join(', '),
      `${typeOf(field)}${names.length > 1 ? ', or ms' : ''}${need}`,
      field.description ?? '',
    ]
    const inside = field.type === 'array' ? `${prefix}${name}[].` : `${prefix}${name}.`
    return [row, ...insideOf(field).flatMap((inner) => fieldRows(inner, inside))]
  })
}

function insideOf(field) {
  if (field.properties !== undefined) return [field]
  const items = field.items?.properties === undefined ? [] : [field.items]
  return [...(field.anyOf ?? []).filter(({ properties }) => properties !== undefined), ...items]
}

const plainNames = { string: 'text', integer: 'integer', number: 'number', boolean: 'true or false', null: 'null' }

function typeOf(schema) {
  const { $ref, enum: choices, anyOf, type, items, properties, examples } = schema
  if ($ref !== undefined) return shapeLink($ref.replace('#/$defs/', ''))
  if (choices !== undefined) return listed(choices.map((one) => `\`${one}\``))
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (anyOf !== undefined) return listed([...new Set(anyOf.map(typeOf))])
  if (Array.isArray(type)) return listed(type.map((one) => typeOf({ ...schema, type: one })))
  if (type === 'array') return `list of ${typeOf(items ?? {})}`
  if (type === 'object') return properties === undefined ? 'object of any names' : 'object'
  const named = plainNames[type] ?? 'any JSON'
  return type === 'string' && examples !== undefined ? `${named} such as \`${examples.at(-1)}\`` : named
}

function listed(words) {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function shapeLink(name) {
  return `[${name}](#${anchor(`shape ${name}`)})`
}

function shapeChapter(shapes) {
  const sections = [...shapes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, shape]) => {
      const says = shape.description === undefined ? [] : [shape.description]
      const forms = isChoice(shape) ? ['One of these:', ...shape.anyOf.map(fieldTable)] : [fieldTable(shape)]
      return [`### Shape: ${name}`, ...says, ...forms]
    })
  return ['## Shapes', 'What verbs take and answer, by name.', ...sections]
}

/** The call as a program writes it: what it is about first, and the rest behind it. */
function libraryCall({ verb, takes }, plural, example) {
  const placed = takes.map((field) => code(example[field]))
  const rest = Object.fromEntries(Object.entries(example).filter(([field]) => !takes.includes(field)))
  const options = Object.keys(rest).length === 0 ? [] : [code(rest)]
  return `await belfry.${plural}.${verb}(${[...placed, ...options].join(', ')})`
}

function code(value) {
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return `[${value.map(code).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${name}: ${code(inner)}`)
    .join(', ')} }`
}

function described(schema) {
  return schema.description ?? schema.unwrap?.().description ?? ''
}

function codes(names) {
  return names.map((name) => `\`${name}\``).join(', ')
}

function anchor(heading) {
  return heading.toLowerCase().replaceAll(' ', '-')
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
