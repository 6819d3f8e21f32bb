import { createHash } from 'node:crypto'
import { isRecord } from '../../core/json/record.ts'
import { secretsIn } from '../../core/secret-name.ts'
import type { Target } from '../../core/target.ts'
import type { Start } from '../../operations/config-section.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { sorted } from './apply-operation.ts'
import { entriesIn, placeIn, sectionsWith } from './config-document.ts'
import type { ConfigFile } from './config-file.ts'

export type Known = Pick<OperationContext, 'kinds' | 'sections'>

export type Program = Omit<Start, 'starts'>

/** Fields with plain data, which are never targets, whatever they look like. */
const data: ReadonlySet<string> = new Set(['payload', 'expect', 'env'])

/**
 * The programs of a document as they are shown, their hashes, and the hash of all: what trust is given to. It covers every command
 * with its folder, environment, secrets and input, and everything that is as dangerous as a command. Names and timings are not
 * part of it, so that changing a timing needs no new trust.
 */
export interface Programs {
  readonly programs: readonly Program[]
  readonly hashes: readonly string[]
  readonly hash: string
}

/** A worker asks for the same document at every check. */
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
 * Finds everything that a section would start: targets at any depth, and what is as dangerous as a command: secrets of this machine that it
 * would send, an admin token, or an address that other machines can reach.
 */
function startsInSection(name: string, value: unknown, { kinds, sections }: Known): Start[] {
  if (name === 'server') return opensDoor(value) ? [openDoor(value)] : []
  const section = sectionsWith(sections).find((each) => each.name === name)
  // An unknown section is refused when it is read; until then it is treated like one with targets.
  if (section === undefined || !isRecord(value)) return startsIn(value, { where: name, payload: undefined, kinds })
  return entriesIn(section, { [name]: value }).flatMap(([entry, given]) => {
    const where = placeIn(section, entry)
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

/** `none`, a bare port, or a loopback address. */
const ownListen = /^(?:none|(?:(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):)?\d{1,5})$/i

/** An address alone counts too: the worker may have been started with --behind-proxy. */
function opensDoor(server: unknown): boolean {
  const { behindProxy, listen } = (server ?? {}) as { readonly behindProxy?: unknown; readonly listen?: unknown }
  return behindProxy === true || (listen !== undefined && !ownListen.test(String(listen)))
}

function openDoor(server: unknown): Start {
  return {
    where: 'server',
    what: 'listens on an address that other machines can reach',
    with: without('', server),
    starts: server,
  }
}
