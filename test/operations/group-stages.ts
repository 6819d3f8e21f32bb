import { verbsAt } from './desk.ts'
import type { Stage } from './stages.ts'

const nothing: Stage = async () => ({})

const empty: Stage = async ({ context }) => {
  await verbsAt(() => context).groups.create('checkout', { description: 'Flash sales.' })
  return {}
}

const grouped: Stage = async (desk) => {
  await empty(desk)
  await verbsAt(() => desk.context).schedules.create({ name: 'depth', every: '5m', group: 'checkout' })
  return {}
}

/** The stages of groups, and of imports that make them. */
export const groupStages = {
  'group create': nothing,
  'store importCronicorn': nothing,
  'group update': grouped,
  'group get': grouped,
  'group list': grouped,
  'group pause': grouped,
  'group resume': grouped,
  'group delete': empty,
} satisfies Record<string, Stage>
