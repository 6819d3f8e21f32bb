import { formatId } from '../../src/core/id.ts'
import { setPlanner } from '../../src/parts/planner/desk/planner-steps.ts'
import { actOnSchedule } from '../../src/parts/planner/looks/act-on-schedule.ts'
import { analysisIds, beginLook } from '../../src/parts/planner/looks/analysis-row.ts'
import { type Desk, verbsAt } from './desk.ts'
import type { Stage } from './stages.ts'

/** A planner by a script, and a schedule that it may look at. */
const planned: Stage = async ({ context, store }) => {
  await store.do(
    setPlanner,
    { provider: 'scripted', model: 'demo', script: '/srv/script.json' },
    { actor: context.actor, zone: context.zone },
  )
  await verbsAt(() => context).schedules.create({
    name: 'depth',
    every: '5m',
    target: { handler: 'queue' },
    autonomy: 'suggest',
  })
  return {}
}

async function begun(desk: Desk): Promise<number> {
  await planned(desk)
  const look = await desk.store.do(beginLook, { schedule: 'depth', run: null, author: 'scripted demo', isAsked: true })
  return look.answer === 'begun' ? look.analysisId : 0
}

const looked: Stage = async (desk) => ({ id: formatId(analysisIds, await begun(desk)) })

const proposed: Stage = async (desk) => {
  const analysisId = await begun(desk)
  const effect = { kind: 'interval', ms: 30_000, ttlMs: 900_000 } as const
  const author = { kind: 'planner', name: 'demo' } as const
  const seen = { schedule: 'depth', version: 1, epoch: 0, analysisId }
  const answer = await desk.store.do(actOnSchedule, { ...seen, author, effect, reason: 'the queue grows' })
  return { id: answer.answer === 'proposed' ? answer.proposal : '' }
}

/** The stages of planners. */
export const plannerStages = {
  'planner set': planned,
  'planner status': planned,
  'planner look': planned,
  'planner eval': planned,
  'planner pause': planned,
  'planner resume': planned,
  'analysis list': looked,
  'analysis get': looked,
  'analysis replay': looked,
  'proposal list': proposed,
  'proposal get': proposed,
  'proposal approve': proposed,
  'proposal decline': proposed,
} satisfies Record<string, Stage>
