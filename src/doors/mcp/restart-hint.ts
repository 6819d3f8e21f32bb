import { BelfryError } from '../../core/error.ts'
import type { Scope } from '../../operations/caller-scope.ts'

/** How a person started this server or gave its address. A hint keeps all of it and adds what is missing. */
export type Start =
  | {
      readonly door: 'pipes'
      /** The scope as it was typed, such as `--read-only`; absent for the default. */
      readonly scopeFlag?: string
      /** The value of `--tools`. */
      readonly tools?: string
      /** Spells commands as they were typed to start this server, with its store. */
      spelled(text: string): string
    }
  | {
      readonly door: 'http'
      /** The path of the MCP endpoint. */
      readonly path: string
      /** The value of `?tools=`. */
      readonly tools?: string
    }

/** A tool within the scope that was not chosen: the scope stays as it is. */
export function missingTool(tool: string, sets: readonly string[], start: Start): BelfryError {
  const message = `This server does not offer tool ${tool}, which is in the tool sets ${[sets.slice(0, -1).join(', '), sets.at(-1)].filter(Boolean).join(' and ')}.`
  const tools = withTool(start.tools, tool)
  const hint =
    start.door === 'http'
      ? `Ask a person to give you the address ${addressOf(start.path, tools)}.`
      : `Ask a person to start the server with this tool: ${commandWith(start.scopeFlag, `--tools ${tools}`)}.`
  return new BelfryError('not-allowed', message, { hint })
}

interface Missing {
  readonly has: Scope
  readonly needs: Scope
  /** The call that needs the wider scope. */
  readonly what: string
  /** A tool that was not chosen either. */
  readonly tool?: string
}

/** A call that needs a wider scope: the tools stay as they are, and a tool that was not chosen is added. */
export function missingScope({ has, needs, what, tool }: Missing, start: Start): BelfryError {
  const tools = tool === undefined ? plainList(start.tools) : withTool(start.tools, tool)
  const wider =
    start.door === 'http'
      ? tokenOf(needs, tool === undefined ? '' : addressOf(start.path, tools))
      : serverOf(needs, tools)
  return new BelfryError('not-allowed', `${what} needs the scope ${needs}, and this server has ${has}.`, {
    hint: `Ask a person to do it, or ${wider}.`,
    details: { has, needs },
  })
}

function tokenOf(scope: Scope, address: string): string {
  return `to give you a token of the scope ${scope}${address === '' ? '' : ` and the address ${address}`}`
}

function serverOf(scope: Scope, tools: string | undefined): string {
  const flag = tools === undefined ? undefined : `--tools ${tools}`
  return `to start the server with that scope: ${commandWith(`--scope ${scope}`, flag)}`
}

function addressOf(path: string, tools = 'default'): string {
  return `${path}?tools=${tools}`
}

function withTool(chosen: string | undefined, tool: string): string {
  return `${plainList(chosen) ?? 'default'},${tool}`
}

/** Spaces after the commas would need quotes. */
function plainList(chosen: string | undefined): string | undefined {
  return chosen?.replaceAll(/\s/g, '')
}

function commandWith(...flags: readonly (string | undefined)[]): string {
  return ['belfry mcp', ...flags.filter((flag) => flag !== undefined)].join(' ')
}
