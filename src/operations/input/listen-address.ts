import { isIP } from 'node:net'
import type { Problem } from './refuse-input.ts'

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export const listenDefault: ListenAddress = { host: '127.0.0.1', port: 4747 }

const portMax = 65_535
export const listenExpected = '127.0.0.1:4747, a port alone such as 4747, or none'

/** Reads an address as people write it; `null` is none. */
export function listenAddressOf(text: string, field: string, problems: Problem[]): ListenAddress | null {
  if (text === 'none') return null
  const [, host = listenDefault.host, digits = ''] = /^(?:(\[[\da-f:.]+\]|[^\s:[\]]+):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits === '' || port > portMax) {
    problems.push({ field, problem: `is ${JSON.stringify(text.slice(0, 60))}`, expected: listenExpected })
    return null
  }
  return { host: host.replace(/^\[|\]$/g, '').toLowerCase(), port }
}

export function isListenAddress(text: string): boolean {
  const problems: Problem[] = []
  listenAddressOf(text, 'listen', problems)
  return problems.length === 0
}

/** Whether nobody but this machine can reach an address. */
export function isLoopback({ host }: Pick<ListenAddress, 'host'>): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The port that nobody writes. */
const portOfHttp = 80

/** The hosts that requests to a loopback address may be addressed to. */
export function hostsOf({ host }: Pick<ListenAddress, 'host'>, port: number): string[] {
  const names = [...new Set([host, '127.0.0.1', 'localhost', '::1'])]
  const bare = names.map((name) => (name.includes(':') ? `[${name}]` : name))
  return [...bare.map((name) => `${name}:${port}`), ...(port === portOfHttp ? bare : [])]
}
