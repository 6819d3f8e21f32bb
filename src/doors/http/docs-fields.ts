import { kinds } from '../../kinds.ts'
import { type JsonSchema, jsonSchemaOf } from '../../operations/schema/json-schema.ts'
import type { Route } from '../../routes.ts'
import { escaped } from './escaped.ts'

type Forms = Map<string, JsonSchema>

/** The fields of a verb as table rows. The forms that they name are collected. */
export function fieldsOf({ operation, subject, method }: Route, forms: Forms): string {
  const schema = jsonSchemaOf(operation.input, 'input', kinds)
  for (const [name, form] of Object.entries(schema.$defs ?? {})) forms.set(name, form as JsonSchema)
  const where = method === 'GET' || method === 'DELETE' ? 'in the query' : 'in the body'
  const rows = rowsOf(schema, '', subject)
  if (rows === '') return ''
  return `<details class="fields"><summary>Fields ${where}</summary>${tableOf(rows)}</details>`
}

/** The forms that fields name, each shown once. */
export function formsTable(forms: Forms): string {
  return [...forms]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, form]) => {
      const parts = (form.anyOf ?? [form]) as JsonSchema[]
      const tables = parts.map((part) => tableOf(rowsOf(part))).join('<p>or</p>')
      return `<section id="form-${name}"><h3>${name}</h3><p>${escaped(form.description ?? '')}</p>${tables}</section>`
    })
    .join('')
}

function tableOf(rows: string): string {
  return `<table><tbody>${rows}</tbody></table>`
}

/** A row for each field and for its nested fields. The two fields of a duration share a row. */
function rowsOf(schema: JsonSchema, prefix = '', inPath: string | null = null): string {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>
  const isTwin = (name: string) => properties[name]?.description?.startsWith(`The same as ${name.slice(0, -2)}, in ms.`)
  return Object.entries(properties)
    .filter(([name]) => !isTwin(name))
    .map(([name, field]) => {
      const names = [name, ...(isTwin(`${name}Ms`) ? [`${name}Ms`] : [])]
      const codes = names.map((one) => `<code>${escaped(prefix + one)}</code>`).join(', ')
      const need = schema.required?.includes(name) === true ? '' : ', optional'
      const placed = name === inPath ? ', in the path' : ''
      const says = `<td>${escaped(field.description ?? '')}</td>`
      const type = `${typeOf(field)}${names.length > 1 ? ', or ms' : ''}${need}${placed}`
      const inside = field.properties === undefined ? '' : rowsOf(field, `${prefix}${name}.`)
      return `<tr><td>${codes}</td><td class="type">${type}</td>${says}</tr>${inside}`
    })
    .join('')
}

const plainNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'true or false',
  null: 'null',
}

function typeOf(schema: JsonSchema): string {
  const { $ref, enum: choices, anyOf, type, items, properties, examples } = schema
  if ($ref !== undefined) return formLink($ref.replace('#/$defs/', ''))
  if (choices !== undefined) return listed(choices.map((one) => `<code>${escaped(String(one))}</code>`))
  if (schema.const !== undefined) return `<code>${escaped(String(schema.const))}</code>`
  if (anyOf !== undefined) return listed([...new Set((anyOf as JsonSchema[]).map(typeOf))])
  if (Array.isArray(type)) return listed(type.map((one) => typeOf({ ...schema, type: one })))
  if (type === 'array') return `list of ${typeOf((items ?? {}) as JsonSchema)}`
  if (type === 'object') return properties === undefined ? 'object of any names' : 'object'
  const named = plainNames[String(type)] ?? 'any JSON'
  const example = type === 'string' ? (examples as unknown[] | undefined)?.at(-1) : undefined
  return example === undefined ? named : `${named} such as <code>${escaped(String(example))}</code>`
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function formLink(name: string): string {
  return `<a href="#form-${name}">${name}</a>`
}
