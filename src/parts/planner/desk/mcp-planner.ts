import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { ServingContext } from '../../../doors/cli/part.ts'
import { servePipes } from '../../../doors/mcp/pipes.ts'
import { throwAbsentSchedule } from '../../../operations/not-found.ts'
import { actOnSchedule } from '../looks/act-on-schedule.ts'
import { toldOf } from '../looks/analysis-kind.ts'
import { beginLook, endLook } from '../looks/analysis-row.ts'
import { lookPrompt } from '../looks/look-prompt.ts'
import { LookSession } from '../looks/look-session.ts'
import { lookTools } from '../looks/look-tools.ts'

/**
 * Serves the eight tools of a planner for one schedule, and nothing else. The agent at the other end is the planner of this look, within
 * the same bounds as any other. A connection that ends without `submit_analysis` is kept as unfinished.
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
  try {
    await servePipes(serverOf(session, `${prompt.system}\n\n${prompt.user}`), stdin, stdout)
  } finally {
    const spec = { provider: 'scripted', model: author } as const
    const conversation = { usage: {}, failure: null }
    const told = {
      ...toldOf({ spec, session, prompt, conversation, durationMs: clock.monotonic() - startedMs }),
      provider: 'mcp',
    }
    await store.do(endLook, { analysisId, state: session.submitted === null ? 'unfinished' : 'completed', told })
  }
}

function serverOf(session: LookSession, instructions: string): Server {
  const server = new Server({ name: 'belfry-planner', version: '1' }, { capabilities: { tools: {} }, instructions })
  const tools = Object.entries(lookTools).map(([name, { says, input }]) => ({
    name,
    description: says,
    inputSchema: z.toJSONSchema(input, { io: 'input' }) as { type: 'object' },
  }))
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    const { result, isError } = await session.call(name, given)
    return { content: [{ type: 'text', text: JSON.stringify(result) }], isError }
  })
  return server
}
