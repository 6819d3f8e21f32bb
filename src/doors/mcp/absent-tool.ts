import { BelfryError } from '../../core/error.ts'
import { refusalOfLeftOut } from '../../features.ts'
import { reaches } from '../../operations/caller-scope.ts'
import { nearest } from '../../operations/input/nearest-name.ts'
import { quoted } from '../../operations/input/refuse-input.ts'
import { type AnyOperation, commandOf } from '../../operations/operation.ts'
import { operations } from '../../table.ts'
import type { McpOptions } from './mcp-server.ts'
import { missingScope, missingTool } from './restart-hint.ts'
import { toolName, toolSets } from './tool-sets.ts'

type Offer = Pick<McpOptions, 'scope' | 'tools' | 'start' | 'isInRun'>

/** Refuses a call of a tool that this server does not offer, and says how a person can offer it. It is an answer to the call, not a protocol error: clients need not show those to their model. */
export function absentTool(name: string, offer: Offer): BelfryError {
  if (offer.isInRun === true) return notOfRuns(name, offer)
  const verb = operations.find((each) => toolName(each) === name)
  if (verb !== undefined) return unoffered(verb, offer)
  const leftOut = refusalOfLeftOut(name)
  if (leftOut !== null) return leftOut
  return new BelfryError('not-found', `There is no tool ${quoted(name)}.`, { hint: meant(name, offer) })
}

/** No other server and no other address would help: the token of a run is good for its tools and for nothing else. */
function notOfRuns(name: string, { tools }: Offer): BelfryError {
  const offered = operations.flatMap((verb) => (verb.inRun === true && tools.has(toolName(verb)) ? toolName(verb) : []))
  return new BelfryError('not-allowed', `The token of a run is not for tool ${quoted(name)}.`, {
    hint: `It is for ${offered.join(', ')}; ask a person for the rest.`,
    details: { caller: 'agent' },
  })
}

function unoffered(verb: AnyOperation, { scope, tools, start }: Offer): BelfryError {
  const name = toolName(verb)
  const { mcp } = verb.doors
  if (mcp !== true) {
    const hint = `Ask a person to do it: belfry ${commandOf(verb).join(' ')}.`
    return new BelfryError('not-allowed', `No server offers tool ${name}: ${mcp}`, { hint })
  }
  if (!reaches(scope, verb.scope)) {
    const missing = { has: scope, needs: verb.scope, what: `Tool ${name}` }
    return missingScope(tools.has(name) ? missing : { ...missing, tool: name }, start)
  }
  const sets = Object.keys(toolSets).filter((set) => toolSets[set]?.includes(name))
  return missingTool(name, sets, start)
}

/** Tool names and command words that a model may have read: `run_show` is `run_get`. */
const known: ReadonlyMap<string, AnyOperation> = new Map([
  ...operations.map((verb) => [commandOf(verb).join('_').replaceAll('-', '_'), verb] as const),
  ...operations.map((verb) => [toolName(verb), verb] as const),
])

function meant(name: string, offer: Offer): string {
  const verb = known.get(nearest(name, known.keys()) ?? '')
  if (verb === undefined) return 'List tools with tools/list.'
  const isOffered = verb.doors.mcp === true && reaches(offer.scope, verb.scope) && offer.tools.has(toolName(verb))
  const asked = `Did you mean ${toolName(verb)}?`
  if (isOffered) return asked
  const { message, hint } = unoffered(verb, offer)
  return `${asked} ${message} ${hint}`
}
