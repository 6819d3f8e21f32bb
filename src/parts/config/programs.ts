import { createHash } from 'node:crypto'
import { isRecord } from '../../core/json/record.ts'
import { secretsIn } from '../../core/secret-name.ts'
import type { Target } from '../../core/target.ts'
import type { Start } from '../../operations/config-section.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { sorted } from './apply-operation.ts'
import { sectionsWith } from './config-document.ts'
import type { ConfigFile } from './config-file.ts'

/** What is known of files and targets, with that of the parts. */
export type Known = Pick<OperationContext, 'kinds' | 'sections'>

/** A start as people are shown it. */
export type Program = Omit<Start, 'starts'>

/** What is handed on as it is, and is no target whatever it looks like. */
const data: ReadonlySet<string> = new Set(['payload', 'expect', 'env'])

/**
 * The programs of a document as people are shown them, the hash of each, and that of all: what trust is given to. It covers every
 * command with its folder, environment, secrets and what it reads, and what comes to the same. When it is started, and under
 * which name, is not part of it, so that an edit of a timing needs no new trust.
 */
export interface Programs {
  readonly programs: readonly Program[]
  readonly hashes: readonly string[]
  readonly hash: string
}

/** A worker asks of the same document at every look. */
const known = new WeakMap<object, Programs>()

export function programsOf(document: ConfigFile['document'], { kinds, sections }: Known): Programs {
  const before = document === null ? undefined : known.get(document)
  if (before !== undefined) return before
  const found = Object.entries(document ?? {}).flatMap(([name, value]) =>
    startsInSection(name, value, { kinds, sections }),
  )
  const texts = found.map(({ starts }) => JSON.stringify(sorted(starts)))
  const programs = found.map(({ starts: _, ...program }) => program)
  const starts = { programs, hashes: texts.map(hashOf), hash: hashOf([...new Set(texts)].sort().join('\n')) }
  if (document !== null) known.set(document, starts)
  return starts
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Finds everything that a section would start: every target, at whatever depth it stands, and what comes to the same, such as secrets
 * of this machine that it would send somewhere, a token that could start programs then, or a door that it would open wide.
 */
function startsInSection(name: string, value: unknown, { kinds, sections }: Known): Start[] {
  if (name === 'server') return opensDoor(value) ? [openDoor(value)] : []
  const section = sectionsWith(sections).find((each) => each.name === name)
  // What is no section is refused where it is read; until then it may be a target.
  if (section === undefined || !isRecord(value)) return startsIn(value, { where: name, payload: undefined, kinds })
  return Object.entries(value).flatMap(([entry, given]) => {
    const where = `${name}.${entry}`
    return [...(section.starts?.(given, where) ?? []), ...startsIn(given, { where, payload: undefined, kinds })]
  })
}

interface ProgramContext extends Pick<Known, 'kinds'> {
  readonly where: string
  readonly payload: unknown
}

function startsIn(value: unknown, { where, payload, kinds }: ProgramContext): Start[] {
  if (typeof value !== 'object' || value === null) return []
  // A program reads the payload of its schedule, and a shell executes what it reads.
  const given = 'payload' in value ? value.payload : payload
  return Object.entries(value).flatMap(([key, inner]) => {
    const kind = kinds.find(({ name }) => name === key)
    if (kind?.startsPrograms === true) {
      const what = typeof inner === 'string' ? inner : JSON.stringify(inner)
      const rest = { ...without(key, value), ...(given !== undefined && { payload: given }) }
      return [{ where, what, with: rest, starts: { target: value, payload: given } }]
    }
    if (kind !== undefined) return secretsSent(kind, value as Target, where)
    return data.has(key) ? [] : startsIn(inner, { where: `${where}.${key}`, payload: given, kinds })
  })
}

function secretsSent(kind: TargetKind, target: Target, where: string): Start[] {
  const starts = target[kind.name]
  const receiver = kind.receiverOf?.(target)
  const to = receiver === undefined ? '' : ` to ${receiver}`
  const rest = Object.entries(starts ?? {}).filter(([, value]) => value !== receiver)
  return secretsIn(starts).map((name) => ({
    where,
    what: `sends the secret ${name}${to}`,
    with: Object.fromEntries(rest),
    starts,
  }))
}

function without(key: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([other]) => other !== key))
}

/** `none`, a port alone, or one at an address that only this machine can reach. */
const ownListen = /^(?:none|(?:(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):)?\d{1,5})$/i

/** Also where it names only the address: whoever starts the worker may have said that a proxy is in front. */
function opensDoor(server: unknown): boolean {
  const { behindProxy, listen } = (server ?? {}) as { readonly behindProxy?: unknown; readonly listen?: unknown }
  return behindProxy === true || (listen !== undefined && !ownListen.test(String(listen)))
}

function openDoor(server: unknown): Start {
  return { where: 'server', what: 'listens beyond this machine', with: without('', server), starts: server }
}
