// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const transcripts = ['test/core/agent/transcript.test.ts', 'test/core/agent/transcript-fuzz.test.ts']

const inboxRules = 'test/parts/agents/inbox/messages.test.ts'
const sessionTasks = 'test/parts/agents/inbox/session-tasks.test.ts'

/** Agents that cost money for nothing, are believed without proof, or stay behind. */
export const agents: readonly Mutant[] = [
  {
    id: 'agent-succeeds-without-final-message',
    hazard: 'An agent that was cut off in the middle counts as a success.',
    edits: [
      [
        'transcriptVerdict',
        "if (!facts.isDone && !isProven) return failed('no-answer'",
        "if (facts.text === 'x') return failed('no-answer'",
      ],
      ['transcriptVerdict', 'const hasAnswer = facts.isDone && ', 'const hasAnswer = '],
    ],
    suites: transcripts,
  },
  {
    id: 'agent-limit-in-free-text-defers',
    hazard: 'An answer that speaks of limits blocks the account.',
    edits: [
      [
        'transcriptVerdict',
        'if (facts.limit !== undefined && !hasAnswer) {\n    const { limit, window, hasActed } = facts',
        'if (facts.limit !== undefined || /usage limit|429/.test(`${facts.text} ${error}`)) {\n    const { limit = {}, window, hasActed } = facts',
      ],
    ],
    suites: transcripts,
  },
  {
    id: 'agent-denials-pass',
    hazard: 'An agent that was not allowed to do its work counts as a success.',
    edits: [['transcriptVerdict', "profile.denials !== 'ignore'", "profile.denials === 'fail'"]],
    suites: transcripts,
  },
  {
    id: 'agent-setup-is-retried',
    hazard: 'A refused login is tried again, and again.',
    edits: [
      [
        'transcriptVerdict',
        "failed('agent-setup', setup || how), retryable: false }",
        "failed('agent-setup', setup || how) }",
      ],
    ],
    suites: transcripts,
  },
  {
    id: 'agent-resumes-after-failure',
    hazard: 'After a failure the session that led to it is continued.',
    edits: [['interruptedSession', '!interrupted.has(last.outcome) || ', '']],
    suites: ['test/core/agent/agent-rules.test.ts', 'test/parts/agents/resume.test.ts'],
  },
  {
    id: 'agent-session-is-not-kept',
    hazard: 'The session of an agent is known only at its end, and lost with its worker.',
    edits: [
      ['AgentRun', 'if (session !== undefined) await this.#keep({})', ''],
      ['AgentRun', 'this.#kept = this.#keep({})', 'this.#kept = Promise.resolve()'],
    ],
    suites: ['test/parts/agents/resume.test.ts'],
  },
  {
    id: 'agent-leaves-grandchildren',
    hazard: 'What an agent started stays behind when it has ended.',
    edits: [['followed', 'const isGone = await group.endRest()', 'const isGone = true']],
    suites: ['test/parts/agents/execute.test.ts'],
  },
  {
    id: 'agent-lingers-for-ever',
    hazard: 'An agent that has answered and does not end keeps its slot until its timeout.',
    edits: [['parts/agents/agent-watch.ts Watch', 'if (this.#reader.facts.isDone) {', 'if (this.hasLingered) {']],
    suites: ['test/parts/agents/agent-watch.test.ts'],
  },
  {
    id: 'prompt-is-repeated',
    hazard: 'A prompt without a session is executed again after its worker died.',
    edits: [
      ['agentKindOf', "resume !== 'never' && known?.get(profile)?.profile.resume !== undefined", "resume !== 'never'"],
    ],
    suites: ['test/parts/agents/resume.test.ts'],
  },
  {
    id: 'lost-lease-writes-session',
    hazard: 'A worker that has lost its lease writes the session that the next attempt continues.',
    edits: [
      [
        'parts/agents/attempt-rows.ts keep',
        'where run_id = $1 and fence = $2 and ns = $3',
        'where run_id = $1 and fence >= $2 and ns = $3',
      ],
    ],
    suites: ['test/parts/agents/attempt-rows.test.ts'],
  },
  {
    id: 'message-acknowledged-without-claim',
    hazard: 'A caller that knows the run of a message ends it for the session that works on it.',
    edits: [['keepTaker', 'l.claim_id = $3', 'coalesce($3, l.claim_id) is not null']],
    suites: [inboxRules],
  },
  {
    id: 'message-acknowledges-any-run',
    hazard: 'A session ends runs of workers as if they were messages.',
    edits: [['keepTaker', "n.kind = 'inbox'", "n.kind <> ''"]],
    suites: [inboxRules],
  },
  {
    id: 'session-holds-two-messages',
    hazard: 'A session is handed a second message while it works on the first.',
    edits: [['takeMessage', 'if (held !== undefined) {', 'if (held !== undefined && held.expires_at < 0) {']],
    suites: [inboxRules],
  },
  {
    id: 'message-of-a-stranger-is-a-task',
    hazard: 'What any caller enqueued is handed to a session as the words of its owner.',
    edits: [['handedMessage', 'isTrusted ? prompt : fence(prompt)', 'prompt']],
    suites: [inboxRules],
  },
  {
    id: 'model-schedules-as-its-owner',
    hazard: 'A model has its own prompt handed to another session as the words of a person, by a schedule.',
    edits: [['isOfPerson', '.inbox?.prompt !== prompt) return false', '.inbox?.prompt === prompt) return true']],
    suites: [inboxRules],
  },
  {
    id: 'message-payload-is-plain',
    hazard: 'Data that came with a message is handed over as instructions.',
    edits: [['handedMessage', '${fence(payload)}', '${payload}']],
    suites: [inboxRules],
  },
  {
    id: 'message-for-a-session-at-work-is-skipped',
    hazard: 'Messages for a session that holds one are thrown away as if it were gone.',
    edits: [['findAbandoned', 'l.fence = s.fence) is null', 'l.fence = s.fence and 1 = 0) is null']],
    suites: [inboxRules],
  },
  {
    id: 'agents-share-a-checkout',
    hazard: 'Two agents work in one checkout at once, and overwrite each other.',
    edits: [
      [
        'reserveCheckout',
        "if (path === null || !path.startsWith('/')) return { go: true }",
        'if (path !== undefined) return { go: true }',
      ],
    ],
    suites: ['test/parts/agents/workspace.test.ts'],
  },
  {
    id: 'worktree-with-changes-is-removed',
    hazard: 'The work of an agent is deleted with its worktree.',
    edits: [['isWorkspaceKept', '(hasChanges || end === ', '(end === ']],
    suites: ['test/core/agent/workspace-kept.test.ts', 'test/parts/agents/workspace.test.ts'],
  },
  {
    id: 'prompt-runs-as-a-command',
    hazard: 'A prompt is run by the shell that starts an agent in a terminal.',
    edits: [['writeStart', "argv.map(quoted).join(' ')", "argv.join(' ')"]],
    suites: ['test/parts/agents/terminal.test.ts'],
  },
  {
    id: 'terminal-without-tether',
    hazard: 'An agent in a terminal outlives its worker.',
    edits: [['startInTerminal', 'await tether.hold(pid, killAfterMs).catch(', 'await Promise.resolve().catch(']],
    suites: ['test/e2e/agents.test.ts'],
  },
  {
    id: 'check-says-nothing',
    hazard: 'A run whose result failed its check counts as a success.',
    edits: [['askCheck', "return says === 'yes' ? null", "return says !== 'failed' ? null"]],
    suites: ['test/parts/agents/judged.test.ts'],
  },
  {
    id: 'session-task-is-kept-quietly',
    hazard: 'A task for a session that is not there is kept for ever, and done by an agent.',
    edits: [['taskHome', '!durable && session === undefined', "!durable && context.folder === ''"]],
    suites: [sessionTasks],
  },
  {
    id: 'messages-start-while-agents-are-stopped',
    hazard: 'A stop of agents is on, and a session is woken with a prompt.',
    edits: [
      ['takeMessage', 'if (greeted?.stopped != null) return', 'if (greeted?.stopped === 0) return'],
      ['takeMessage', 'if (kept?.stopped != null) {', 'if (kept?.stopped === 0) {'],
    ],
    suites: [sessionTasks],
  },
]
