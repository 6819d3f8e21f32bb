import { type LaneOptions, laneNeed, type Target } from '../../../core/target.ts'

/** Whose runs a budget counts. `kind` is `KIND` or `KIND/NAME`; a profile is the kind `agent` with its name. */
export const budgetScopes = ['schedule', 'tag', 'queue', 'kind', 'account', 'namespace'] as const
export type BudgetScope = (typeof budgetScopes)[number]

export interface BudgetFor {
  readonly scope: BudgetScope
  /** Empty for the namespace. */
  readonly subject: string
}

/** A run, by everything that the scope of a budget can name. */
export interface BudgetWork {
  readonly queue: string
  readonly schedule: string | null
  readonly kind: string
  readonly name: string
  readonly account: string
  readonly tags: readonly string[]
  /** Whether it says where its usage is found. */
  readonly hasUsage: boolean
}

/** Work that uses about the same: what a run used is an estimate for the next one. */
export function likeness({ kind, name, hasUsage }: Pick<BudgetWork, 'kind' | 'name' | 'hasUsage'>): string {
  return `${kind}/${name}${hasUsage ? ' with usage' : ''}`
}

interface RunFacts {
  readonly queue: string
  readonly schedule: string | null
  readonly target: Target | null
  readonly options: Readonly<Record<string, unknown>>
  /** The account that the attempt uses, where it has chosen one. */
  readonly account?: string | null | undefined
}

export function workOf({ queue, schedule, target, options, account }: RunFacts): BudgetWork {
  const answer = laneNeed(target, options as LaneOptions)
  const need = 'need' in answer ? answer.need : null
  const named = need?.account ?? ''
  return {
    queue,
    schedule,
    kind: need?.kind ?? '',
    name: need?.name ?? '',
    // Of several accounts it is not known which one it will be.
    account: account ?? (named.includes(',') ? '' : named),
    tags: (options.tags ?? []) as readonly string[],
    hasUsage: options.usage !== undefined,
  }
}

/** Whether a budget counts a run. All that fit count it at once. */
export function fits({ scope, subject }: BudgetFor, work: BudgetWork): boolean {
  switch (scope) {
    case 'namespace':
      return true
    case 'tag':
      return work.tags.includes(subject)
    case 'kind':
      return subject === work.kind || (work.name !== '' && subject === `${work.kind}/${work.name}`)
    case 'schedule':
      // Schedules that agents planned in runs of a schedule count for the budget of that schedule.
      return work.schedule === subject || work.tags.includes(`parent:${subject}`)
    default:
      return subject !== '' && work[scope] === subject
  }
}

const profile = 'agent/'

export const forWords =
  'schedule=NAME, tag=TEXT, queue=NAME, profile=NAME, account=NAME, kind=KIND, kind=KIND/NAME or namespace'

/** What a text such as `queue=mail` names, or what is wrong with it. */
export function readFor(text: string): BudgetFor | { readonly problem: string; readonly expected: string } {
  const [, word = '', subject] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
  const wrong = (problem: string, expected = forWords) => ({ problem, expected })
  const isProfile = word === 'profile'
  const scope = isProfile ? 'kind' : budgetScopes.find((one) => one === word)
  if (scope === undefined) return wrong(`is for ${JSON.stringify(word)}`)
  if (scope === 'namespace') {
    return subject === undefined
      ? { scope, subject: '' }
      : wrong('names a namespace', '`namespace` alone: the one that the store was opened with')
  }
  if (subject === undefined || subject === '') return wrong(`names no ${word}`, `${word}=NAME`)
  return { scope, subject: isProfile ? profile + subject : subject }
}

export function forText({ scope, subject }: BudgetFor): string {
  if (scope === 'namespace') return 'namespace'
  if (scope === 'kind' && subject.startsWith(profile)) return `profile=${subject.slice(profile.length)}`
  return `${scope}=${subject}`
}
