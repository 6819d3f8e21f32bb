import { isIP } from 'node:net'
import type { Problem } from './refuse-input.ts'

/** The address a server listens on. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export const listenDefault: ListenAddress = { host: '127.0.0.1', port: 4747 }

const portMax = 65_535
export const listenExpected = '127.0.0.1:4747, a port alone such as 4747, or none'

/** Reads a listen address; `null` means none. */
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

/** Whether only this machine can reach an address. */
export function isLoopback({ host }: Pick<ListenAddress, 'host'>): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The port that browsers leave out. */
const portOfHttp = 80

/** The Host headers that a server on a loopback address accepts. */
export function hostsOf({ host }: Pick<ListenAddress, 'host'>, port: number): string[] {
  const names = [...new Set([host, '127.0.0.1', 'localhost', '::1'])]
  const bare = names.map((name) => (name.includes(':') ? `[${name}]` : name))
  return [...bare.map((name) => `${name}:${port}`), ...(port === portOfHttp ? bare : [])]
}
