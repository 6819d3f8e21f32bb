import { BelfryError } from '../../../core/error.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type ServedSession, servedSession } from '../inbox/served-session.ts'
import { unfinishedOfAgent, unfinishedTasks } from './task-rows.ts'

/** The caller's context on a store that keeps tasks. */
export interface TaskHome extends OperationContext {
  /** The session that owns the store. */
  readonly session?: ServedSession
  /** How many unfinished tasks of a project the caller's other store keeps: the limit of 50 holds for both stores together. */
  others(project: string): Promise<number>
  /** How many of them an agent planned outside of runs: its quota holds for both stores together too. */
  othersOfAgent(project: string, author: string): Promise<number>
}

/**
 * Where a new task is kept: in the caller's store, or in the store of the session that this process serves. A durable task is stored
 * durably or refused; a session task never becomes durable without a request.
 */
export async function taskHome(context: OperationContext, durable = true): Promise<TaskHome> {
  const session = servedSession(context)
  if (!durable && session === undefined) throw noSession()
  const own = durable ? session?.opened(context) : await session?.open(context)
  const other = durable ? own?.store : context.store
  const others = async (project: string) => (other === undefined ? 0 : other.look(unfinishedTasks, project))
  const othersOfAgent = async (project: string, author: string) =>
    other === undefined ? 0 : other.look(unfinishedOfAgent, project, author)
  const counts = { others, othersOfAgent }
  return durable || own == null || session === undefined ? { ...context, ...counts } : { ...own, session, ...counts }
}

function noSession(): BelfryError {
  return new BelfryError('conflict', 'This process serves no session, so it cannot keep a session task.', {
    hint: 'Make it durable, which is the default, or make it in the session: with a tool of `belfry mcp`, or in a program after `belfry.serveSession()`.',
    details: { reason: 'no-session' },
  })
}
