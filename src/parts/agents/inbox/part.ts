import type { Part } from '../../../part.ts'
import { inboxTables } from './0033-inbox.ts'
import { removeMessages } from './end-message.ts'
import { inboxPolicy, inboxQueue } from './inbox-queue.ts'
import { inboxOperations } from './inbox-verbs.ts'
import { inboxKind } from './kind.ts'
import { sweepSessions } from './message-rows.ts'
import { messages } from './message-stream.ts'
import { messageSource } from './send-message.ts'
import { abandonedDuty } from './skip-gone.ts'

/** The inbox: messages for live agent sessions. Each message is a run, which a session leases as an outside host does. */
export const inbox = {
  name: 'inbox',
  migrations: [inboxTables],
  kinds: [inboxKind],
  queues: { [inboxQueue]: inboxPolicy },
  kindQueues: { [inboxKind.name]: inboxQueue },
  sourcesKept: [messageSource],
  ofRuns: [removeMessages],
  sweeps: [sweepSessions],
  duties: [abandonedDuty],
  commands: [
    {
      name: 'hook',
      says: 'Hand the next message to a session of Claude Code or Codex, as its Stop hook.',
      usage: '<claude-stop|codex> [flags]',
      file: 'The hook: claude-stop or codex.',
      inRun: true,
      options: [
        { flags: '--rewake', says: 'Wait in the background, and wake the idle session (claude-stop).' },
        { flags: '--wait <duration>', says: 'With --rewake: how long to wait. Default: 9m30s.' },
      ],
      load: async () => (await import('./hook-command.ts')).hook,
    },
  ],
  methods: { serveSession: async (behind, given) => (await import('./serve-session.ts')).serveSession(behind, given) },
  mcp: {
    options: [
      { flags: '--session <id>', says: 'The session that is served, by an id of its own choice. Default: a new one.' },
      { flags: '--channel', says: 'Hand messages to the session as events of a Claude Code channel.' },
    ],
    load: async () => (await import('./serve-session.ts')).modelSession,
  },
  nouns: {
    inbox: {
      says: 'Messages for live sessions of agents.',
      plural: 'inbox',
      operations: inboxOperations,
      composes: { messages },
      otherWords: {
        'inbox ls': 'list',
        'inbox get': 'next',
        'inbox receive': 'next',
        'inbox complete': 'done',
        'inbox put': 'send',
        session: 'inbox sessions',
        'session list': 'inbox sessions',
      },
    },
  },
  origins: { [messageSource]: { sentence: () => 'A message was sent.', asked: 'as a message' } },
} as const satisfies Part
