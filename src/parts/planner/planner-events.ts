import type { EventLines } from '../../engine/events.ts'

declare module '../../engine/events.ts' {
  interface EngineEvents {
    /** A look of this worker made a proposal, which waits for a person's decision. */
    'proposal.made': {
      readonly proposal: string
      readonly schedule: string
      readonly analysis: string
      /** The model that made the proposal. */
      readonly author: string
      /** The proposed action: `every 30s for 15m`. */
      readonly wants: string
      readonly reason: string
      readonly expiresAt: number
    }
  }
}

export const proposalMade = 'proposal.made'

export const plannerLines: EventLines<typeof proposalMade> = {
  [proposalMade]: {
    level: 'info',
    say: ({ proposal, schedule, wants, author }) =>
      `Planner ${author} proposes ${proposal} for schedule ${schedule}: ${wants}. It waits for a person: \`belfry proposal approve ${proposal}\`.`,
  },
}
