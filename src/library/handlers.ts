import { BelfryError } from '../core/error.ts'
import { type Problem, quoted, refuse } from '../operations/input/refuse-input.ts'
import type { EnqueuedRun, EnqueueInput } from '../operations/run/enqueue-runs.ts'
import type { Run } from '../operations/run/run-answer.ts'
import type { RunInput } from '../operations/run/run-input.ts'
import type { WaitInput } from '../operations/run/wait.ts'
import type { Execute } from '../targets/attempt.ts'
import { handlerExecutor } from '../targets/handler/handler-executor.ts'
import type { Handler } from '../targets/handler/handler-run.ts'
import { type HandlerTarget, handlerKind } from '../targets/handler/kind.ts'

/**
 * A type without a value: it carries the type of a handler's payload to the schedules and runs that name the
 * handler.
 */
export declare const handledPayload: unique symbol

/** The target of a registered handler. A schedule or a run with it accepts only its payload. */
export interface HandledTarget<Payload> extends HandlerTarget {
  readonly [handledPayload]?: Payload
}

/** A registered handler: the target of runs and schedules, with the types of its function. */
export interface HandlerReference<Payload = unknown, Result = unknown> {
  readonly name: string
  /** The target for a schedule or a run. */
  readonly target: HandledTarget<Payload>
  /** Enqueues work for this handler. */
  enqueue(payload: Payload, input?: HandlerInput, options?: EnqueueInput): Promise<EnqueuedRun>
  /** Resolves with the run once it has ended or is parked. */
  wait(id: string, input?: WaitInput): Promise<Run<Result>>
}

/** The input of a run, without its target and payload. */
export type HandlerInput = Omit<RunInput, 'target' | 'payload'>

export interface HandlerRuns {
  enqueue(input: RunInput, options?: EnqueueInput): Promise<EnqueuedRun>
  wait(id: string, input?: WaitInput): Promise<Run>
}

/** The handlers of this process, by name. */
export class Handlers {
  readonly executors = new Map<string, Execute>()
  readonly #runs: HandlerRuns

  constructor(runs: HandlerRuns) {
    this.#runs = runs
  }

  add<Payload, Result>(name: string, handle: Handler<Payload, Result>): HandlerReference<Payload, Result> {
    const target: HandlerTarget = Object.freeze({ handler: name })
    const problems = handlerKind.problems({ handler: name })
    refuse(
      'The handler',
      problems.map((problem) => ({ ...problem, field: `target.${problem.field}` })),
    )
    if (typeof handle !== 'function') {
      throw new BelfryError('invalid', `Handler ${quoted(name)} is ${typeof handle}; it must be a function.`)
    }
    if (this.executors.has(name)) {
      throw new BelfryError('conflict', `There is a handler ${quoted(name)} already.`, {
        hint: 'Each name has one handler in a process; choose another name.',
        details: { handler: name },
      })
    }
    this.executors.set(name, handlerExecutor(handle))
    return this.#reference(name, target)
  }

  #reference<Payload, Result>(name: string, target: HandledTarget<Payload>): HandlerReference<Payload, Result> {
    const runs = this.#runs
    return Object.freeze({
      name,
      target,
      async enqueue(payload: Payload, input: HandlerInput = {}, options: EnqueueInput = {}) {
        refuse('The run', rivalsOf(input))
        return runs.enqueue({ ...input, target, payload }, options)
      },
      wait: (id: string, input: WaitInput = {}) => runs.wait(id, input) as Promise<Run<Result>>,
    })
  }
}

/** An untyped program could pass these fields, and they would be ignored silently. */
function rivalsOf(input: object): Problem[] {
  const rivals = ['target', 'payload'].filter((field) => Object.hasOwn(input, field))
  return rivals.map((field) => ({ field, problem: 'is settled by the handler', expected: 'absent' }))
}
