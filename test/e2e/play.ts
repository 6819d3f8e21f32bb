import { expect } from 'vitest'
import type { Said } from '../doors/cli/terminal.ts'
import { Alike } from './alike.ts'
import type { Step } from './step.ts'

/** What was typed and what came of it, as it can be compared with another store's. */
export interface Line {
  readonly typed: string
  readonly exit: number
  readonly answer: unknown
  readonly shown: string
}

/** Somewhere that commands are typed, and the names of where they go. */
export interface Typist {
  belfry(words: readonly string[], typing?: { readonly stdin?: string }): Promise<Said>
  readonly places: readonly string[]
}

export async function play(typist: Typist, list: readonly Step[]): Promise<Line[]> {
  const alike = new Alike(typist.places)
  const known: Record<string, string> = {}
  const lines: Line[] = []
  const surprises: string[] = []
  for (const { words, exit, keeps, isShown, stdin } of list) {
    const typed = words(known)
    const spoken = typed.map((word) => word.replaceAll('_', ' '))
    const said = await typist.belfry(withJson(spoken), stdin === undefined ? {} : { stdin })
    const { stdout, stderr } = said
    if (said.exit !== exit) surprises.push(`belfry ${typed.join(' ')}: exit ${said.exit}\n${stderr}`)
    const answer = answerOf(stdout, stderr)
    if (keeps !== undefined) known[keeps] = keptOf(answer)
    const shown = isShown && isRead(typed) ? (await typist.belfry(spoken)).stdout : ''
    lines.push({
      typed: alike.text(typed.join(' ')),
      exit,
      answer: alike[typed.includes('--dry-run') ? 'rehearsal' : 'json'](about(typed, answer)),
      shown: alike.text(shown),
    })
  }
  expect(surprises).toEqual([])
  return lines
}

/** The id of what was made, or of the lease or message that was handed out. */
function keptOf(answer: unknown): string {
  const { id, leases, message } = answer as {
    id?: string
    leases?: readonly { readonly lease: string }[]
    message?: { readonly id: string }
  }
  return id ?? leases?.[0]?.lease ?? message?.id ?? ''
}

function withJson(words: readonly string[]): string[] {
  const cut = words.indexOf('--')
  return cut < 0 ? [...words, '--json'] : [...words.slice(0, cut), '--json', ...words.slice(cut)]
}

/** One answer, lines of them, or the error; and of a program's output what it is. */
function answerOf(stdout: string, stderr: string): unknown {
  if (stdout === '') return JSON.parse(stderr.slice(stderr.indexOf('{')))
  return stdout.startsWith('{\n') || stdout.startsWith('[') || stdout === 'null\n'
    ? JSON.parse(stdout)
    : stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
}

function isRead([noun, verb = '']: readonly string[]): boolean {
  return (
    noun === 'explain' ||
    /^(policy|stats|plan|show|list|next|hints|versions|history|events|attempts|output|wait)$/.test(verb)
  )
}

/** The id of an item is drawn, and what a stage of a tick took differs each time. */
function withoutDrawn(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer ?? null, (key, value) => (key === '_id' || key === 'ms' ? null : value)))
}

/** What the doctor looks at differs with the database; what it finds must not. Workers are other processes each time. */
function about([noun]: readonly string[], answer: unknown): unknown {
  if (noun === 'worker' && Array.isArray(answer))
    return (answer as { can: unknown; isLive: boolean }[]).map(({ can, isLive }) => ({ can, isLive }))
  if (noun === 'corpus') return withoutDrawn(answer)
  if (noun !== 'doctor') return answer
  const { ok, checks } = answer as { ok: boolean; checks: { check: string; state: string; findings: unknown[] }[] }
  return { ok, checks: checks.map(({ check, state, findings }) => ({ check, state, findings })) }
}
