import { describe, expect, it } from 'vitest'
import { TestClock } from '../../../src/testing.ts'
import { until } from '../../targets/command/processes.ts'
import { playAgents, type Scene } from './scene.ts'

const failed = (reason: RegExp) => ({ end: { status: 'failed', reason: expect.stringMatching(reason) } })

async function played({ belfry }: Scene, target: object, more: object) {
  await belfry.queues.set('default', { maxAttempts: 3, onExhausted: 'fail', backoffBase: '10ms' } as never)
  const { id } = await belfry.runs.enqueue({ target, ...more } as never)
  await belfry.start()
  const run = await belfry.runs.wait(id)
  return { run, output: (await belfry.runs.output(id))?.text ?? '' }
}

describe('a check of the result', () => {
  it('reads it, and its no fails the attempt, with what it printed; the tokens are counted', async () => {
    const scene = await playAgents()
    const check = { command: ['grep', '-o', 'unhealthy'] }
    const { run, output } = await played(scene, scene.target('claude'), { check, attempts: 1 })
    expect(run).toMatchObject(failed(/^check says no: exit code 1/))
    expect(output).toContain('guard: check said no')
    expect(await scene.belfry.runs.attempts(run.id)).toMatchObject([{ agent: { tokensIn: 1_500 } }])
  })

  it('that says yes lets the success stand', async () => {
    const scene = await playAgents()
    const check = { command: 'grep -q "The deploy is healthy"' }
    const { run } = await played(scene, scene.target('claude'), { check })
    expect(run).toMatchObject({ end: { status: 'completed' } })
  })

  it('by a handler gets the result as its payload', async () => {
    const scene = await playAgents()
    const seen: unknown[] = []
    scene.belfry.handle('judge', ({ payload }) => {
      seen.push(payload)
      return seen.length > 1
    })
    const { run } = await played(scene, scene.target('claude'), { check: { handler: 'judge' } })
    expect(run).toMatchObject({ end: { status: 'completed' }, attempts: 1 })
    expect(seen).toMatchObject([{ text: 'The deploy is healthy.' }, { text: 'The deploy is healthy.' }])
  })

  it('that cannot tell fails the attempt, and so does one that is not there', async () => {
    const scene = await playAgents()
    const check = { command: 'echo broken; exit 2' }
    const { run } = await played(scene, scene.target('claude'), { check, attempts: 1 })
    expect(run).toMatchObject(failed(/^check failed: exit code 2: broken/))
  })

  it('is not asked about a failure', async () => {
    const scene = await playAgents()
    const target = scene.target('claude', 'fixture:api-error')
    const { output } = await played(scene, target, { check: { command: 'true' }, attempts: 1 })
    expect(output).not.toContain('guard:')
  })

  it('that is stopped with its worker leaves the run to be tried again', async () => {
    const scene = await playAgents()
    const { belfry } = scene
    await belfry.start()
    const check = { command: 'sleep 600' }
    const { id } = await belfry.runs.enqueue({ target: scene.target('claude'), check, repeatable: true } as never)
    await until(() => scene.starts().length === 1, 'the agent has started')
    await expect.poll(async () => (await belfry.runs.output(id))?.text ?? '').toContain('The deploy is healthy.')
    await belfry.stop({ graceMs: 0 })
    expect(await belfry.runs.get(id)).toMatchObject({ status: 'ready' })
  })
})

describe('expect.usage', () => {
  it('fails a success that used too many tokens, and it is not tried again', async () => {
    const scene = await playAgents()
    const { run } = await played(scene, scene.target('claude'), { expect: { usage: { tokensMax: 1_000 } } })
    expect(run).toMatchObject(failed(/^expect\.usage: it used 1880 tokens, and may use 1000/))
    expect(scene.starts()).toHaveLength(1)
  })

  it('lets a success stand that used less', async () => {
    const scene = await playAgents()
    const usage = { tokensMax: 1_880, durationMax: '10m' }
    expect((await played(scene, scene.target('claude'), { expect: { usage } })).run.end?.status).toBe('completed')
  })
})

describe('expect.anomaly', () => {
  it('warns of a run that took far longer than its schedule’s runs usually do, and does not fail it', async () => {
    const clock = new TestClock()
    const { belfry } = await playAgents({ clock })
    let tookMs = 1_000
    belfry.handle('work', () => {
      clock.advance(tookMs)
    })
    await belfry.schedules.create({ name: 'work', every: '1h', target: { handler: 'work' }, expect: { anomaly: 4 } })
    const told: unknown[] = []
    belfry.on('run.unusual', ({ unusual }) => told.push(unusual))
    const run = async () => {
      const { id } = await belfry.schedules.run('work')
      await belfry.drain()
      return belfry.runs.get(id)
    }
    for (let each = 0; each < 5; each++) await run()
    expect(told).toEqual([])
    tookMs = 9_000
    const { end, id } = await run()
    expect(end).toMatchObject({ status: 'completed' })
    expect(told).toEqual([['time: 9s, and usually 1s']])
    expect((await belfry.runs.output(id))?.text).toBe('[belfry: unusual time: 9s, and usually 1s]\n')
  })
})
