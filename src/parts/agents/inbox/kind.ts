import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { isRecord } from '../../../core/json/record.ts'
import type { Target } from '../../../core/target.ts'
import type { TargetKind } from '../../../targets/kind.ts'
import { problemAt, shown, type TargetProblem, unicodeProblems } from '../../../targets/target-problem.ts'
import { promptProblem } from '../agent-target.ts'
import { inboxQueue } from './inbox-queue.ts'
import { projectRoot } from './project-root.ts'

/** A target that hands a prompt to an agent session: to a named one, or to the first session of a project that asks. */
export interface InboxTarget {
  readonly inbox: {
    readonly session?: string | undefined
    readonly project?: string | undefined
    readonly prompt: string
  }
}

declare module '../../../operations/target/target-input.ts' {
  interface PartTargets {
    readonly inbox: InboxTarget
  }
  interface PartReceivers {
    readonly inbox: { readonly inbox: Omit<InboxTarget['inbox'], 'prompt'> }
  }
}

/** A session and a project are lanes. The name of a lane has at most 500 characters, including its prefix. */
export const sessionLengthMax = 150
const projectLengthMax = 480
const fields = ['session', 'project', 'prompt']
const shownLengthMax = 80

const form = z.strictObject({
  inbox: z
    .strictObject({
      session: z.string().min(1).describe('The session that gets it.').optional(),
      project: z
        .string()
        .min(1)
        .describe('In place of a session: a folder of its project. The next session that asks gets it.')
        .optional(),
      prompt: z.string().min(1).describe('What it is to do.'),
    })
    .describe('A message for a session of an agent.'),
})

/** A receiver of notifications gives no prompt: the prompt is the same for all receivers, and the notification is data. */
const messageForm = z.strictObject({
  inbox: form.shape.inbox.omit({ prompt: true }).describe('A session of an agent, which gets it as a message.'),
})
const noticePrompt = 'A notification of Belfry. Take note of it, and tell the user what matters in it.'

function noticeProblems(target: Target): TargetProblem[] {
  const { inbox } = target
  if (isRecord(inbox) && inbox.prompt !== undefined && inbox.prompt !== noticePrompt) {
    return [problemAt('inbox.prompt', 'is given for notifications', 'session or project only')]
  }
  return inboxProblems(withNoticePrompt(target))
}

function withNoticePrompt(target: Target): Target {
  return isRecord(target.inbox) ? { ...target, inbox: { ...target.inbox, prompt: noticePrompt } } : target
}

/** The target of notifications for a session, or for the next session of a project that asks. */
export function noticeFor(whom: Pick<InboxTarget['inbox'], 'session' | 'project'>): Target {
  return { inbox: { ...whom, prompt: noticePrompt }, lane: laneOf(whom) }
}

/** The lanes of the messages that a session takes. */
export function lanesOf({ session, project }: { readonly session: string; readonly project: string | null }): string[] {
  return [`inbox/${laneOf({ session })}`, ...(project === null ? [] : [`inbox/${laneOf({ project })}`])]
}

export function laneOf({ session, project }: Pick<InboxTarget['inbox'], 'session' | 'project'>): string {
  return session === undefined ? `project:${project}` : `session:${session}`
}

/** Messages for sessions. No worker executes them: a session leases them when it asks. */
export const inboxKind: TargetKind = {
  name: 'inbox',
  called: 'a message for a session',
  form,
  problems: inboxProblems,
  resolved: (target, folder) => {
    const { inbox } = target
    if (!isRecord(inbox) || typeof inbox.project !== 'string' || inbox.project === '') return target
    return { ...target, inbox: { ...inbox, project: projectRoot(resolve(folder, inbox.project)) } }
  },
  laneOf: (target) => laneOf(inboxOf(target)),
  queue: inboxQueue,
  words: (target) => {
    const { session, project, prompt } = inboxOf(target)
    const whom = session === undefined ? `the next session of ${project}` : `session ${session}`
    return `tells ${whom} ${JSON.stringify(shortened(prompt))}`
  },
  flags: [
    { flag: '--inbox-session', value: '<id>', field: 'inbox.session', says: 'A message for this session of an agent.' },
    {
      flag: '--inbox-project',
      value: '<folder>',
      field: 'inbox.project',
      says: 'A message for the next session of this project that asks.',
    },
    { flag: '--message', value: '<text>', field: 'inbox.prompt', says: 'What the session is to do.' },
  ],
  message: { form: messageForm, problems: noticeProblems, resolved: withNoticePrompt },
  serving: (name) => `Ask for it in that session: \`belfry inbox next ${nextFlags(name)}\`.`,
}

function nextFlags(lane: string): string {
  const [whom = '', ...rest] = lane.split(':')
  return `--${whom} ${rest.join(':')}`
}

function inboxOf(target: Target): InboxTarget['inbox'] {
  return (target as unknown as InboxTarget).inbox
}

function inboxProblems({ inbox, lane: _, ...beside }: Target): TargetProblem[] {
  const besides = Object.keys(beside).map((field) =>
    problemAt(field, 'is not a field of a message for a session', 'only inbox'),
  )
  if (!isRecord(inbox))
    return [...besides, problemAt('inbox', `is ${shown(inbox)}`, 'an object with prompt and session')]
  const unknown = Object.keys(inbox).filter((field) => !fields.includes(field) && inbox[field] !== undefined)
  const wrong = promptProblem(inbox.prompt)
  return [
    ...besides,
    ...unknown.map((field) =>
      problemAt(`inbox.${field}`, 'is not a field of a message', `one of ${fields.join(', ')}`),
    ),
    ...receiverProblems(inbox),
    ...(wrong === null ? [] : [problemAt('inbox.prompt', ...wrong)]),
  ]
}

function receiverProblems({ session, project }: Readonly<Record<string, unknown>>): TargetProblem[] {
  if (session === undefined && project === undefined) {
    return [problemAt('inbox.session', 'is missing', 'the id of a session, or a project in its place')]
  }
  if (session !== undefined && project !== undefined) {
    return [problemAt('inbox.project', 'is given beside session', 'only one of the two')]
  }
  if (session !== undefined) return nameProblems('inbox.session', session, sessionLengthMax)
  const wrong = nameProblems('inbox.project', project, projectLengthMax)
  if (wrong.length > 0 || isAbsolute(project as string)) return wrong
  return [problemAt('inbox.project', `is ${shown(project)}`, 'the path of a folder')]
}

function nameProblems(field: string, value: unknown, lengthMax: number): TargetProblem[] {
  const expected = `a text of 1 to ${lengthMax} characters that does not begin with a dash`
  if (typeof value !== 'string' || value === '') {
    return [problemAt(field, `is ${value === '' ? 'empty' : shown(value)}`, expected)]
  }
  if (value.length > lengthMax || value.includes('\0') || value.startsWith('-')) {
    return [problemAt(field, 'is too long, begins with a dash or has a NUL character', expected)]
  }
  return unicodeProblems(value, field)
}

function shortened(prompt: string): string {
  const line = prompt.trim().replace(/\s+/g, ' ')
  return line.length > shownLengthMax ? `${line.slice(0, shownLengthMax).toWellFormed()}…` : line
}
