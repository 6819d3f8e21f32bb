import { expect, test } from 'vitest'
import { isPassing } from '../../src/core/error.ts'
import { writeAudit } from '../../src/store/audit/write-audit.ts'
import { StepAgain } from '../../src/store/statement.ts'
import { actor, onEachDatabase, startAt } from './scene.ts'

onEachDatabase('steps that meet others', (scene) => {
  test('a step that meets others at work each time it is asked has written nothing, and may be asked again later', async () => {
    const step = scene().write(function* (context) {
      yield* writeAudit(context, { actor, verb: 'run.cancel', subject: 'run r-11' }, startAt)
      throw new StepAgain('The run moved.')
    })
    const error: unknown = await step.catch((refusal: unknown) => refusal)
    expect(error).toMatchObject({ code: 'unavailable', message: 'The run moved.', hint: 'Ask again.' })
    expect(isPassing(error)).toBe(true)
    expect(await scene().sql('select 1 from belfry.audit where ns = $1', scene().context.ns)).toEqual([])
  })
})
