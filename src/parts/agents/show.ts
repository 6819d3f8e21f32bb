import { plainText } from '../../operations/schedule/plain-text.ts'
import type { Facts, Listing, Sheet } from '../../operations/show.ts'
import type { Checked, ProfileLine, ProfileWhole } from './agent-verbs.ts'

export const profilesShown: Listing<readonly ProfileLine[], ProfileLine> = {
  columns: [
    ['PROFILE', 'name', 'name'],
    ['PROGRAM', 'program', 'text'],
    ['PRINTS', 'stream', 'text'],
    ['RESUMES', ({ resume }) => yesNo(resume)],
    ['COST', ({ cost }) => yesNo(cost)],
    ['FROM', ({ managedBy }) => (managedBy === null ? 'shipped' : plainText(managedBy))],
  ],
  below: (_, { command }) => `check one: ${command('agent', 'check', 'NAME')}`,
}

export const profileShown: Facts<ProfileWhole> = {
  head: ({ name, managedBy }, { paint }) =>
    `${paint.bold(name)}  ${managedBy === null ? 'shipped' : `of ${plainText(managedBy)}`}`,
  facts: [['can', canDo]],
  below: ({ profile }) => JSON.stringify(profile, null, 2),
}

export function checkShown(answer: Checked, { paint }: Sheet): string {
  const { name, found, version, problem, live } = answer
  if (!found) return `${paint.red(`${name}: not found`)}\n  ${plainText(problem ?? '')}`
  const head = `${paint.bold(name)}: found ${plainText(version ?? 'without a version')}; profile says ${canDo(answer)}`
  if (live === undefined) return head
  const unread = live.unread.length === 0 ? '' : `; ${paint.red(`not there: ${live.unread.join(', ')}`)}`
  const answered = live.answered ? paint.green('it answered') : paint.red(plainText(live.error ?? 'it did not answer'))
  return `${head}\n  live: ${answered}; read: ${live.read.join(', ') || 'nothing'}${unread}`
}

/** `stream-json, resume, cost: yes`. */
function canDo({ stream, resume, usage, cost }: ProfileLine): string {
  const prints = { jsonl: 'stream-json', json: 'json', text: 'text' }[stream]
  const can = Object.entries({ resume, usage, cost })
  const does = can.filter(([, is]) => is).map(([what]) => what)
  const not = can.filter(([, is]) => !is).map(([what]) => what)
  return `${[prints, ...does].join(', ')}: yes${not.length === 0 ? '' : `; ${not.join(', ')}: no`}`
}

function yesNo(is: boolean): string {
  return is ? 'yes' : 'no'
}
