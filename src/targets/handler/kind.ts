import { z } from 'zod'
import { needOf } from '../../core/target.ts'
import type { TargetKind } from '../kind.ts'
import { problemAt } from '../target-problem.ts'

/** A target that calls a function of a program. */
export interface HandlerTarget {
  readonly handler: string
}

/** Functions of programs, by the names that `belfry.handle` gives them. */
export const handlerKind: TargetKind = {
  name: 'handler',
  called: 'a handler',
  form: z.strictObject({ handler: z.string().min(1).describe('The name of a handler in a worker.') }),
  problems(target) {
    const { handler } = target
    const answer = needOf({ handler })
    const strays = Object.keys(target).filter((field) => field !== 'handler')
    return [
      ...('problem' in answer ? [problemAt('handler', answer.problem, 'the name of a handler')] : []),
      ...strays.map((field) => problemAt(field, 'is not known beside a handler', 'the handler alone')),
    ]
  },
  words: ({ handler }) => `handler ${handler}`,
  flags: [
    {
      flag: '--handler',
      value: '<name>',
      field: 'handler',
      says: 'A handler that a program of yours has registered.',
    },
  ],
  notice: 'is a handler, which is code of one program, and that program may itself be down',
  knowsItsEnd: true,
  serving: (name) =>
    `A program of yours must register it, with belfry.handle('${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}', …), and start().`,
}
