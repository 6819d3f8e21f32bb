import { BelfryError } from '../../../core/error.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type ServedSession, servedSession } from '../inbox/served-session.ts'
import { unfinishedTasks } from './task-rows.ts'

/** A store that keeps tasks, for a caller. */
export interface TaskHome extends OperationContext {
  /** The session whose own store it is. */
  readonly session?: ServedSession
  /** Unfinished tasks of a project that the caller's other store keeps: 50 are the limit over both. */
  others(project: string): Promise<number>
}

/**
 * Where a new task is kept: in the store of the caller, or in that of the session that this process serves. What is to be durable is
 * durable or refused, and a session task is never quietly a durable one.
 */
export async function taskHome(context: OperationContext, durable = true): Promise<TaskHome> {
  const session = servedSession(context)
  if (!durable && session === undefined) throw noSession()
  const own = durable ? session?.opened(context) : await session?.open(context)
  const other = durable ? own?.store : context.store
  const others = async (project: string) => (other === undefined ? 0 : other.look(unfinishedTasks, project))
  return durable || own == null || session === undefined ? { ...context, others } : { ...own, session, others }
}

function noSession(): BelfryError {
  return new BelfryError('conflict', 'This process serves no session, so it cannot keep a session task.', {
    hint: 'Make it durable by leaving `durable` out, or make it in the session: with a tool of `belfry mcp`, or in a program after `belfry.serveSession()`.',
    details: { reason: 'no-session' },
  })
}
