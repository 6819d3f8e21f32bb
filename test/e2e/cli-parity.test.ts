import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { postgresUrl } from '../postgres.ts'
import { Alike } from './alike.ts'
import { Shell } from './belfry-process.ts'
import { hostSteps, missing, type Step, steps, workedSteps } from './parity-steps.ts'

/** What was typed and what came of it, as it can be compared with another store's. */
interface Line {
  readonly typed: string
  readonly exit: number
  readonly answer: unknown
  readonly shown: string
}

async function play(shell: Shell, list: readonly Step[]): Promise<Line[]> {
  const alike = new Alike([`${shell.folder}/.belfry/belfry.db`, postgresUrl(), shell.folder])
  const known: Record<string, string> = {}
  const lines: Line[] = []
  const surprises: string[] = []
  for (const { words, exit, keeps, isShown } of list) {
    const typed = words(known)
    const spoken = typed.map((word) => word.replaceAll('_', ' '))
    const said = await shell.belfry(withJson(spoken))
    const { stdout, stderr } = said
    if (said.exit !== exit) surprises.push(`belfry ${typed.join(' ')}: exit ${said.exit}\n${stderr}`)
    const answer = answerOf(stdout, stderr)
    // A rehearsed run has the id that the next one might get.
    if (typed.includes('--dry-run')) delete (answer as { id?: unknown }).id
    if (keeps !== undefined) known[keeps] = keptOf(answer)
    const shown = isShown && isRead(typed) ? (await shell.belfry(spoken)).stdout : ''
    lines.push({
      typed: alike.text(typed.join(' ')),
      exit,
      answer: about(typed, alike.json(answer)),
      shown: alike.text(shown),
    })
  }
  expect(surprises).toEqual([])
  return lines
}

/** The id of what was made, or of the lease that was handed out. */
function keptOf(answer: unknown): string {
  const { id, leases } = answer as { id?: string; leases?: readonly { readonly lease: string }[] }
  return id ?? leases?.[0]?.lease ?? ''
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

/** What the doctor looks at differs with the database; what it finds must not. Workers are other processes each time. */
function about([noun]: readonly string[], answer: unknown): unknown {
  if (noun === 'worker')
    return (answer as { can: unknown; isLive: boolean }[]).map(({ can, isLive }) => ({ can, isLive }))
  if (noun !== 'doctor') return answer
  const { ok, checks } = answer as { ok: boolean; checks: { check: string; state: string; findings: unknown[] }[] }
  return { ok, checks: checks.map(({ check, state, findings }) => ({ check, state, findings })) }
}

describe('every verb of the command line', () => {
  it('is typed by a step', () => expect(missing(operations)).toEqual([]))

  it('answers the same on SQLite and PostgreSQL where no worker runs', async () => {
    const all = [...steps, ...hostSteps]
    const [sqlite, postgres] = await Promise.all([play(new Shell('sqlite'), all), play(new Shell('postgres'), all)])
    expect(postgres).toEqual(sqlite)
  })

  it('answers the same on SQLite and PostgreSQL beside a worker, and of what it did', async () => {
    const shells = [new Shell('sqlite'), new Shell('postgres')]
    const [sqlite, postgres] = await Promise.all(
      shells.map(async (shell) => {
        await shell.up('--name ringer')
        return play(shell, [...steps, ...workedSteps])
      }),
    )
    expect(postgres).toEqual(sqlite)
  })
})
