import { partCommands, partModels, partQueues, partServers, partTrusts, partUps } from '../../../parts-face.ts'
import type { LocalCommand } from '../part.ts'

const up: LocalCommand = {
  name: 'up',
  says: 'Run a worker: fire due schedules and execute runs until Ctrl-C.',
  usage: '[flags]',
  options: [
    { flags: '--once', says: 'Run everything that is due, then exit; exit 1 when a run failed or was parked.' },
    {
      flags: '--for <duration>',
      says: 'With --once: also wait for retries and delayed runs that are due within this time. Default: do not wait.',
    },
    { flags: '--keep-going', says: 'With --once: exit 0 also when runs failed or were parked.' },
    { flags: '--slots <n>', says: 'How many runs at once. Default: as many as the queues allow.' },
    { flags: '--queues <a,b>', says: `Only runs of these queues; Belfry itself uses ${partQueues.join(', ')}.` },
    {
      flags: '--grace <duration>',
      says: 'How long running runs may take to end when the worker stops. Default: 25s, and 10m for agents.',
    },
    { flags: '--name <text>', says: 'The name of this worker, for people.' },
    { flags: '--allow-private', says: 'Let HTTP targets call private networks.' },
    { flags: '--allow-hosts <a,b>', says: 'Hosts that HTTP targets may call whatever their addresses are.' },
    { flags: '--refuse-loopback', says: 'Forbid HTTP targets to call this machine.' },
    { flags: '--listen <address>', says: 'Serve HTTP at this address, or none. Default: 127.0.0.1:4747.' },
    { flags: '--behind-proxy', says: 'Also listen beyond this machine, for a proxy with TLS in front of it.' },
    { flags: '--hosts <a,b>', says: 'Accept these Host headers too, as the proxy passes them on.' },
    ...partUps.flatMap(({ options }) => options),
    { flags: '--quiet', says: 'Print only problems.' },
  ],
  load: async () => (await import('./up.ts')).up,
}

const mcp: LocalCommand = {
  name: 'mcp',
  says: 'Serve the verbs to an AI agent on stdin and stdout, as a Model Context Protocol server.',
  usage: '[flags]',
  inRun: true,
  options: [
    {
      flags: '--scope <read|operate|admin>',
      says: 'What the agent may do; each scope includes those before it. Default: operate.',
    },
    { flags: '--read-only', says: 'The same as --scope read.' },
    {
      flags: '--tools <SET|NAME,…>',
      says: 'The tools to offer: default, all, a noun such as queue, or names of tools. Default: default.',
    },
    ...partServers.map(({ option }) => option),
    ...partModels.flatMap(({ options }) => options),
  ],
  load: async () => (await import('./mcp.ts')).mcp,
}

const trust: LocalCommand = {
  name: 'trust',
  says: 'Trust the commands in a config file at its current content, or trust the store.',
  usage: '[FILE | --store [URL]] [flags]',
  file: partTrusts[0]?.says ?? 'The file.',
  options: [],
  storeAlone: 'Trust this store instead of a file. Default: the store that commands use here.',
  load: async () => (await import('./trust.ts')).trust,
}

export const localCommands: readonly LocalCommand[] = [up, mcp, trust, ...partCommands]
