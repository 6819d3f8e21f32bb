import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { ServingContext } from '../../../doors/cli/part.ts'
import { servePipes } from '../../../doors/mcp/pipes.ts'
import { throwAbsentSchedule } from '../../../operations/not-found.ts'
import { actOnSchedule } from '../looks/act-on-schedule.ts'
import { toldOf } from '../looks/analysis-kind.ts'
import { beginLook, endLook, keepLook } from '../looks/analysis-row.ts'
import { lookPrompt } from '../looks/look-prompt.ts'
import { LookSession } from '../looks/look-session.ts'
import { lookTools } from '../looks/look-tools.ts'

/**
 * Serves the eight tools of a planner for one schedule, and nothing else. The agent at the other end is the planner of this look, within
 * the same bounds as any other planner. If the connection ends without `submit_analysis`, the look is stored as unfinished.
 */
export async function servePlanner(name: string, { context, stdin, stdout }: ServingContext): Promise<void> {
  const { store, clock } = context
  const author = `mcp ${context.actor.name}`
  const begun = await store.do(beginLook, { schedule: name, run: null, author, isAsked: true })
  if (begun.answer === 'skipped') return throwAbsentSchedule(context, name)
  const { facts, analysisId } = begun
  const startedMs = clock.monotonic()
  const session = new LookSession(facts, (effect, reason) => {
    const { version, epoch, schedule } = facts
    const by = { kind: 'planner', name: author } as const
    return store.do(actOnSchedule, {
      schedule,
      version,
      epoch,
      analysisId,
      author: by,
      effect,
      reason,
      otherwise: 'suggest',
    })
  })
  const prompt = lookPrompt(facts)
  const toldNow = () => {
    const spec = { provider: 'scripted', model: author } as const
    const conversation = { usage: {}, failure: null }
    const told = toldOf({ spec, session, prompt, conversation, durationMs: clock.monotonic() - startedMs })
    return { ...told, provider: 'mcp' }
  }
  // Kept after each call: the process of this server may be killed at any moment.
  const called: Call = async (name, given) => {
    const answer = await session.call(name, given)
    await store.do(keepLook, { analysisId, told: toldNow() })
    return answer
  }
  try {
    await servePipes(serverOf(called, `${prompt.system}\n\n${prompt.user}`), stdin, stdout)
  } finally {
    const state = session.submitted === null ? 'unfinished' : 'completed'
    await store.do(endLook, { analysisId, state, told: toldNow() })
  }
}

type Call = LookSession['call']

function serverOf(called: Call, instructions: string): Server {
  const server = new Server({ name: 'belfry-planner', version: '1' }, { capabilities: { tools: {} }, instructions })
  const tools = Object.entries(lookTools).map(([name, { says, input }]) => ({
    name,
    description: says,
    inputSchema: z.toJSONSchema(input, { io: 'input' }) as { type: 'object' },
  }))
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    const { result, isError } = await called(name, given)
    return { content: [{ type: 'text', text: JSON.stringify(result) }], isError }
  })
  return server
}
