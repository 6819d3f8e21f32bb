/**
 * Writes `dist/verbs.d.ts`: the verbs of the library and of the client as interfaces with the sentences of the table of operations, so
 * that an editor shows at each verb and field what the reference says. A type that is computed from a schema loses its comments on the
 * way; here only the types of the fields are computed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nouns } from '../dist/table.js'

const dist = fileURLToPath(new URL('../dist', import.meta.url))

/** The types that the library exports under names of its own. */
const aliases = {
  ScheduleInput: 'ScheduleCreateInput',
  RunInput: 'RunEnqueueInput',
  RoutineInput: 'RoutineCreateInput',
  HintInput: 'ScheduleHintInput',
}

const opening = `import type { z } from 'zod';
import type { nouns } from './table.js';
import type { TargetInput } from './operations/target/target-input.js';
import type { HandlerTarget } from './targets/handler/kind.js';
import type { handledPayload } from './library/handlers.js';
type Nouns = typeof nouns;
type In<Noun extends keyof Nouns, Verb extends keyof Nouns[Noun]['operations']> = Nouns[Noun]['operations'][Verb] extends { readonly input: infer Schema extends z.ZodType } ? z.input<Schema> : never;
type Beside<Noun extends keyof Nouns, Verb extends keyof Nouns[Noun]['operations']> = Nouns[Noun]['operations'][Verb] extends { readonly local: infer Schema extends z.ZodType } ? z.input<Schema> : never;
type Out<Noun extends keyof Nouns, Verb extends keyof Nouns[Noun]['operations']> = Nouns[Noun]['operations'][Verb] extends { readonly output: infer Schema extends z.ZodType } ? z.output<Schema> : never;
/** A target, and of a handler that was registered the payload that it takes. */
type TargetFor<Payload> = Exclude<TargetInput, HandlerTarget> | (HandlerTarget & { readonly [handledPayload]?: Payload });
/** The payload must be given where the handler cannot do without it: its type is known and has no null, no undefined and no {}. */
type PayloadNeeded<Payload> = unknown extends Payload ? unknown : [undefined] extends [Payload] ? unknown : [null] extends [Payload] ? unknown : {} extends Payload ? unknown : { payload: unknown };
`

writeFileSync(`${dist}/verbs.d.ts`, page(mend()))
rewrite('index.d.ts', './verbs.js')
rewrite('client/belfry-client.d.ts', '../verbs.js')

/** Has the class use the interfaces in place of the computed types. A file that was rewritten before is rewritten anew. */
function rewrite(file, from) {
  const text = readFileSync(`${dist}/${file}`, 'utf8')
  const named = text.replace(
    /^import \{ type NounVerbs \} from '[^']+';$/m,
    `import { type NounVerbs } from '${from}';`,
  )
  const aliased = Object.entries(aliases).reduce((all, [name, meant]) => aliasedIn(all, name, meant, from), named)
  if (aliased !== text) writeFileSync(`${dist}/${file}`, aliased)
}

function aliasedIn(text, name, meant, from) {
  const exported = new RegExp(`^export type \\{([^}]*)\\b${name}\\b([^}]*)\\} from '([^']+)';$`, 'm')
  return text.replace(exported, (_, before, after, source) => {
    const others = `${before}${after}`.split(',').map((each) => each.trim())
    const rest = others.filter((each) => each !== '' && !each.endsWith(' as'))
    const line = rest.length === 0 ? '' : `export type { ${rest.join(', ')} } from '${source}';\n`
    return `${line}export type { ${meant} as ${name} } from '${from}';`
  })
}

/**
 * Of a generator with properties the compiler writes a declaration that it refuses itself: `declare function* name`. The names of modules
 * to which a part adds types it leaves as they are, though there is no such file beside the declarations. Answers with the files that add
 * types: a program knows them only if something imports them.
 */
function mend() {
  const adding = []
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.d.ts')) continue
    const text = readFileSync(`${dist}/${path}`, 'utf8')
    const mended = text
      .replace(/^(export )?declare function\* /gm, '$1declare function ')
      .replace(/^(declare module '\..*)\.ts'/gm, "$1.js'")
    if (mended !== text) writeFileSync(`${dist}/${path}`, mended)
    if (/^declare module '\./m.test(mended)) adding.push(path)
  }
  return adding
}

function page(adding) {
  const imports = adding.map((path) => `import './${path.replace(/\.d\.ts$/, '.js')}';\n`).join('')
  const sections = Object.entries(nouns).map(([noun, { operations, says, composes = {} }]) => {
    const verbs = Object.entries(operations).map(([verb, operation]) => ({ noun, verb, operation }))
    const methods = verbs.map((one) => `${comment(one.operation.says, '  ')}  ${methodOf(one)}\n`)
    const composed = Object.entries(composes).map(([name, method]) => {
      return `${comment(method.says, '  ')}  readonly ${name}: ReturnType<Nouns['${noun}']['composes']['${name}']['of']>;\n`
    })
    return `${verbs.map(typesOf).join('')}${comment(says)}export interface ${nameOf(noun)}Verbs {\n${[...methods, ...composed].join('')}}\n`
  })
  const properties = Object.entries(nouns).map(
    ([noun, { plural, says }]) => `${comment(says, '  ')}  readonly ${plural}: ${nameOf(noun)}Verbs;\n`,
  )
  const all = `${comment('The verbs of every noun.')}export interface NounVerbs {\n${properties.join('')}}\n`
  return `${imports}${opening}${sections.join('\n')}\n${all}`
}

/** The interfaces of what a verb takes and answers. */
function typesOf({ noun, verb, operation }) {
  const { input, takes, local, request: about } = operation
  const name = typeName(noun, verb)
  const isTyped = takesTarget(operation)
  const generic = isTyped ? '<Payload = unknown>' : ''
  const member = memberOf(`In<'${noun}', '${verb}'>`, input.shape, isTyped)
  const taken = takes.map(member).join('')
  const rest = Object.keys(input.shape)
    .filter((field) => !takes.includes(field))
    .map(member)
    .join('')
  const besides = Object.keys(local.shape)
    .map(memberOf(`Beside<'${noun}', '${verb}'>`, local.shape, false))
    .join('')
  const options = `${comment(`The fields of ${about}, besides what is named first.`)}export interface ${name}Options${generic} {\n${rest}}\n`
  const whole = `${comment(`The fields of ${about}.`)}export interface ${name}Input${generic} extends ${name}Options${isTyped ? '<Payload>' : ''} {\n${taken}}\n`
  const beside =
    besides === ''
      ? ''
      : `${comment(`What a caller in this process gives beside ${about}.`)}export interface ${name}Local {\n${besides}}\n`
  return `${options}${whole}${beside}${answerOf({ noun, verb, operation, name, about })}`
}

function answerOf({ noun, verb, operation, name, about }) {
  const type = `Out<'${noun}', '${verb}'>`
  const says = comment(`The answer to ${about}.`)
  const { shape } = operation.output
  // An answer that is a list, or one of several forms, has the fields of its own type.
  if (shape === undefined) return `${says}export type ${name}Answer = ${type};\n`
  const member = memberOf(type, shape, false, 'readonly ')
  return `${says}export interface ${name}Answer {\n${Object.keys(shape).map(member).join('')}}\n`
}

/** Writes a field: its sentence, whether it may be left out, and its type as the schema says it. */
function memberOf(type, shape, isTyped, readonly = '') {
  return (field) => {
    const schema = shape[field]
    const mark = isOptional(schema) ? '?' : ''
    const own =
      isTyped && field === 'target'
        ? 'TargetFor<Payload> | null'
        : isTyped && field === 'payload'
          ? 'NoInfer<Payload>'
          : `${type}['${field}']`
    return `${comment(sayingOf(schema), '  ')}  ${readonly}${field}${mark}: ${own}${mark === '?' && own !== `${type}['${field}']` ? ' | undefined' : ''};\n`
  }
}

/**
 * One signature, so that the compiler tells of a misspelt field once. Where something besides the first argument must be given the two
 * forms differ in how many arguments they have, and the compiler tells of the one that was meant.
 */
function methodOf({ noun, verb, operation }) {
  const { input, takes, local } = operation
  const name = typeName(noun, verb)
  const isTyped = takesTarget(operation)
  const [generic, given] = isTyped ? ['<Payload = unknown>', '<Payload>'] : ['', '']
  const needed = isTyped ? ' & NoInfer<PayloadNeeded<Payload>>' : ''
  const hasLocal = Object.keys(local.shape).length > 0
  const beside = hasLocal ? `, local?: ${name}Local` : ''
  const answer = `Promise<${name}Answer>`
  const isFree = (fields) => fields.every((field) => isOptional(input.shape[field]))
  const rest = Object.keys(input.shape).filter((field) => !takes.includes(field))
  const options = `options${isFree(rest) ? '?' : ''}: ${name}Options${given}${needed}${hasLocal ? ` & ${name}Local` : ''}`
  const wholeMark = isFree(Object.keys(input.shape)) ? '?' : ''
  const whole = `${verb}${generic}(input${wholeMark}: ${name}Input${given}${needed}${beside}): ${answer};`
  if (takes.length === 0) return whole
  const places = takes.map((field) => `${field}: In<'${noun}', '${verb}'>['${field}']`).join(', ')
  const hasOptions = rest.length > 0 || hasLocal
  if (takes.length === 1 && isFree(rest)) {
    const [field] = takes
    const first = `${field}OrInput: NonNullable<In<'${noun}', '${verb}'>['${field}']> | ${isTyped ? `(${name}Input${given}${needed})` : `${name}Input`}`
    return `${verb}${generic}(${first}${hasOptions ? `, ${options}` : ''}): ${answer};`
  }
  const placed = `${verb}${generic}(${places}${hasOptions ? `, ${options}` : ''}): ${answer};`
  return `${placed}\n${comment(operation.says, '  ')}  ${whole}`
}

function takesTarget({ input }) {
  // What can be taken away by null is a change, of which the handler is seldom a part.
  const { target, payload } = input.shape
  return target !== undefined && payload !== undefined && !sayingOf(target).includes('Null takes it away')
}

function isOptional(schema) {
  return schema._zod.optin === 'optional'
}

/** What a schema says of itself, or the one that it wraps. */
function sayingOf(schema) {
  const { innerType } = schema.def
  return schema.description ?? (innerType === undefined ? '' : sayingOf(innerType))
}

function comment(says, indent = '') {
  if (says === '') throw new Error('A field or a verb says nothing of itself.')
  return `${indent}/** ${says.replaceAll('*/', '*\u200b/')} */\n`
}

function typeName(noun, verb) {
  return `${nameOf(noun)}${nameOf(verb)}`
}

function nameOf(word) {
  return `${word[0].toUpperCase()}${word.slice(1)}`
}
