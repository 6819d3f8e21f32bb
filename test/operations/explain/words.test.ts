import { expect, it } from 'vitest'
import { atDesk, verbsAt } from '../desk.ts'

const desk = atDesk()
const { runs, store } = verbsAt(() => desk().context)

it('a run that may start in thousands of years keeps nobody from looking at it, or at anything else', async () => {
  const { id } = await runs.enqueue({ target: null, notBefore: '9999-12-31T00:00:00Z' })
  expect((await runs.explain(id)).status).toBe('ready')
  const { checks } = await store.doctor()
  const said = JSON.stringify(checks.find(({ check }) => check === 'workers'))
  expect(said).toContain('may start in more than 36500d')
  expect(JSON.stringify(checks)).not.toContain('could not be looked at')
})
