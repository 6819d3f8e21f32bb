import { ack, done, renew } from './end-verbs.ts'
import { list, sessions } from './list-messages.ts'
import { next } from './next-message.ts'
import { send } from './send-message.ts'

/** The verbs of the inbox. An editor shows these comments at `belfry.inbox`; a test compares them with what the verb says. */
export const inboxOperations = {
  /** Take the next message for a session, of its own or of its project. */
  next,
  /** Acknowledge a message: it is delivered, and is not handed over again. */
  ack,
  /** Hold a message for its whole time again, before it is acknowledged. */
  renew,
  /** Report what came of a message, as the result of its run; acknowledges it if that was not done before. */
  done,
  /** Send a message to a session, or to the next session of a project that asks. */
  send,
  /** List messages, newest first, a page at a time. */
  list,
  /** List live sessions: those that asked for messages within 10 minutes, or are at work on one. */
  sessions,
}
