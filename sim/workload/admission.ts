import { deleteBudget, listBudgets, putBudget, topUpBudget } from '../../src/parts/admission/budgets/write-budget.ts'
import { putCalendar } from '../../src/parts/admission/calendars/write-calendar.ts'
import { askHolders, goOn, stopWork } from '../../src/parts/holds/stop-work.ts'
import type { Store } from '../../src/store/port.ts'
import { handlerNames } from '../worker.ts'
import type { World } from '../world.ts'
import { queueNames } from './queues.ts'

const actor = { name: 'somebody', door: 'simulation' }
const calendarName = 'shift'

/** Makes the calendar and the budgets of a world, or changes one of them, or throws a switch. */
export async function actOnAdmission(world: World, isFirst = false): Promise<unknown> {
  const { random, people } = world
  const { store } = people
  if (isFirst) {
    await putShift(world)
    return putSome(world, 'all')
  }
  switch (random.weighted({ calendar: 2, budget: 2, 'top up': 2, stop: 2, go: 4 })) {
    case 'calendar':
      return putShift(world)
    case 'budget':
      return putSome(world)
    case 'top up':
      return store.do(topUpBudget, random.pick(budgetNames), { amounts: { runs: random.between(1, 5) }, actor })
    case 'stop':
      return stopSome(world)
    case 'go':
      return store.do(goOn, { ...drawSubject(world), everywhere: false, actor })
  }
}

/** Minutes that are open, so that it opens and closes while all this happens. */
function putShift({ random, people: { store } }: World): Promise<unknown> {
  const cron = random.pick(['*/2 * * * *', '1-59/2 * * * *', '* * * * *', '0-29 * * * *', '*/3 * * * *'])
  return store.do(putCalendar, { name: calendarName, hours: { zone: 'UTC', cron } }, { actor })
}

const budgetNames = ['all', 'firsts'] as const

function putSome({ random, people: { store } }: World, name = random.pick(budgetNames)): Promise<unknown> {
  const of = name === 'all' ? { scope: 'namespace', subject: '' } : { scope: 'kind', subject: 'handler/first' }
  const terms = { per: 'hour', zone: 'UTC', limits: { runs: random.pick([1, 2, 3, 5]) } } as const
  return store.do(putBudget, { name, ...(of as { scope: 'namespace'; subject: string }), terms }, { actor })
}

/** What `belfry stop --on` stops. */
function drawSubject({ random }: World) {
  if (random.chance(0.5)) return { scope: 'queue', subject: random.pick(queueNames) } as const
  return { scope: 'kind', subject: random.pick(['handler', `handler/${random.pick(handlerNames)}`]) } as const
}

async function stopSome(world: World): Promise<unknown> {
  const { random, people } = world
  const { store } = people
  const stopping = { ...drawSubject(world), everywhere: false }
  const forMs = random.chance(0.8) ? random.between(1, 5_000) : undefined
  await store.do(stopWork, { ...stopping, note: 'for a test', forMs, actor })
  if (!random.chance(0.5)) return undefined
  return store.do(askHolders, {
    ...stopping,
    how: random.pick(['cancel', 'release'] as const),
    reason: 'stopped',
    limit: 100,
  })
}

/** The calendar that a run follows, if it follows one. */
export function drawCalendar({ random }: World): { readonly calendar?: readonly string[] } {
  return random.chance(0.4) ? { calendar: [calendarName] } : {}
}

/** A spent budget would keep the last run from starting. */
export async function endAdmission(store: Store): Promise<void> {
  for (const { name } of await store.look(listBudgets)) await store.do(deleteBudget, name, { actor })
}
