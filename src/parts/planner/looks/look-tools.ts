import { z } from 'zod'
import { steeredTtlMsMax } from '../../../core/schedule/hint-bounds.ts'
import type { SteeringEffect } from '../../../core/steering/steered.ts'
import { fence } from '../../../core/untrusted-text.ts'
import { instantOf } from '../../../operations/input/instant.ts'
import type { LookFacts } from './look-facts.ts'
import type { LookedResponse } from './look-responses.ts'

/** The eight tools of a planner. They read one look, and write only to the schedule of that look. */
export interface PlannerTool {
  readonly says: string
  readonly input: z.ZodObject
}

const reason = z.string().max(500).describe('Why, for the people who read it.').optional()
/** No bound of planners, only a number that can be an instant: the bounds refuse what is longer than a day, and say so. */
const minutesMax = 10_000_000
const minutes = (preset: number) =>
  z.number().min(1).max(minutesMax).default(preset).describe('How long it counts, in minutes: at most 1440, a day.')

/** Why a time to live is too long for a planner; null: it is not. */
export function ttlRefusal({ ttlMinutes }: Readonly<Record<string, unknown>>): string | null {
  const most = steeredTtlMsMax / 60_000
  return typeof ttlMinutes === 'number' && ttlMinutes > most
    ? `ttlMinutes is ${ttlMinutes}; allowed: 1 to ${most}`
    : null
}

export const lookTools = {
  propose_interval: {
    says: 'Suggest a time between runs for a while. Bounds are applied and told.',
    input: z.strictObject({
      intervalMs: z.number().int().min(1).max(86_400_000).describe('The time between two runs, in ms.'),
      ttlMinutes: minutes(60),
      reason,
    }),
  },
  propose_next_time: {
    says: 'Suggest one run at an instant. The earlier of it and the baseline wins.',
    input: z.strictObject({
      nextRunAtIso: z.string().describe('The instant, ISO 8601 with an offset.'),
      ttlMinutes: minutes(30),
      reason,
    }),
  },
  pause_until: {
    says: 'Pause until an instant, a day at most; null ends your own pause.',
    input: z.strictObject({ untilIso: z.string().nullable().describe('ISO 8601 with an offset, or null.'), reason }),
  },
  clear_hints: { says: 'Remove the hints of planners.', input: z.strictObject({ reason }) },
  get_latest_response: { says: 'Read the latest answer.', input: z.strictObject({}) },
  get_response_history: {
    says: 'Read recent answers, newest first.',
    input: z.strictObject({
      limit: z.number().int().min(1).max(10).default(2).describe('How many.'),
      offset: z.number().int().min(0).max(1_000).default(0).describe('How many of the newest to skip.'),
    }),
  },
  get_sibling_latest_responses: {
    says: 'Read the latest answer of each other schedule of its group.',
    input: z.strictObject({}),
  },
  submit_analysis: {
    says: 'End the analysis. It must be the last call.',
    input: z.strictObject({
      reasoning: z.string().max(4_000).describe('What you saw and why you acted or not.'),
      actions_taken: z.array(z.string().max(200)).max(20).optional(),
      confidence: z.enum(['high', 'medium', 'low']).optional(),
      next_analysis_in_ms: z.number().int().min(300_000).max(86_400_000).describe('When to look again.').optional(),
    }),
  },
} as const satisfies Readonly<Record<string, PlannerTool>>

export type ToolName = keyof typeof lookTools
export const finalTool = 'submit_analysis'

export function isTool(name: string): name is ToolName {
  return Object.hasOwn(lookTools, name)
}

/** The effect that an action tool requests; or, as a sentence, the problem with the request. */
export function effectOf(name: ToolName, args: Readonly<Record<string, unknown>>): SteeringEffect | string {
  switch (name) {
    case 'propose_interval':
      return { kind: 'interval', ms: args.intervalMs as number, ttlMs: ttlOf(args) }
    case 'propose_next_time': {
      const at = instantOf(args.nextRunAtIso as string)
      return 'at' in at
        ? { kind: 'oneshot', at: at.at, ttlMs: ttlOf(args) }
        : `nextRunAtIso ${at.problem}; give ${at.expected}`
    }
    case 'pause_until': {
      if (args.untilIso === null) return { kind: 'resume' }
      const at = instantOf(args.untilIso as string)
      return 'at' in at ? { kind: 'pause', until: at.at } : `untilIso ${at.problem}; give ${at.expected}`
    }
    default:
      return { kind: 'clear' }
  }
}

function ttlOf({ ttlMinutes }: Readonly<Record<string, unknown>>): number {
  return Math.round((ttlMinutes as number) * 60_000)
}

/** The answer of a query tool, from the facts of the look only, so that a replay answers the same. */
export function queried(name: ToolName, args: Readonly<Record<string, unknown>>, facts: LookFacts): object {
  const { responses, siblingResponses } = facts
  if (name === 'get_latest_response') {
    const [latest] = responses
    return latest === undefined
      ? { found: false, message: 'No run has answered yet.' }
      : { found: true, ...fenced(latest) }
  }
  if (name === 'get_sibling_latest_responses') {
    return { count: siblingResponses.length, siblings: siblingResponses.map(fenced) }
  }
  const { limit, offset } = args as { limit: number; offset: number }
  const page = responses.slice(offset, offset + limit)
  const hasMore = responses.length > offset + limit
  const nextOffset = hasMore ? offset + limit : null
  return {
    count: page.length,
    hasMore,
    pagination: { offset, limit, nextOffset },
    responses: page.map(fenced),
    hint: hasMore ? `More history available: call again with offset ${nextOffset}.` : 'This is all that is kept.',
  }
}

/** Bodies and errors come from outside and are not trusted, so they are fenced. */
function fenced<Response extends LookedResponse>({ responseBody, error, ...response }: Response) {
  return { ...response, responseBody: fence(responseBody), ...(error !== undefined && { error: fence(error) }) }
}
