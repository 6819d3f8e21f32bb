import { createHmac } from 'node:crypto'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { all, both } from '../../../src/store/statement.ts'
import type { Porch } from '../../doors/http/porch.ts'
import { startAt, verbsAt } from '../../operations/desk.ts'

export const secret = `whsec_${Buffer.from('a key of 24 bytes or more').toString('base64')}`
const githubSecret = "It's a Secret to Everybody"

/** Routines of both styles, one that takes no webhooks, and their secrets. */
export async function setRoutines({ desk, secrets }: Porch): Promise<void> {
  const { routines } = verbsAt(() => desk.context)
  const run = { target: { handler: 'deploy' } }
  const signedBy = (style: 'standard' | 'github', name: string) => ({ style, secret: { secret: name } })
  secrets.set('HOOK', secret)
  secrets.set('GITHUB', githubSecret)
  await routines.create('paid', { run, match: { type: 'paid' }, signing: signedBy('standard', 'HOOK') })
  await routines.create('pushed', { run, type: ['push'], signing: signedBy('github', 'GITHUB') })
  await routines.create('unsigned', { run })
}

export interface Sent {
  readonly id?: string
  readonly at?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What a sender of Standard Webhooks sends. */
export function standardHeaders(body: string, { id = 'msg_1', at = startAt, headers = {} }: Sent = {}) {
  const timestamp = String(Math.floor(at / 1_000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    ...headers,
  }
}

export function githubHeaders(body: string, { id = 'd-1', headers = {} }: Sent = {}) {
  const signature = createHmac('sha256', githubSecret).update(body).digest('hex')
  return { 'x-github-delivery': id, 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${signature}`, ...headers }
}

/** Everything that a delivery could have written. */
export async function written({ desk }: Porch): Promise<unknown> {
  const tables = ['run', 'routine_event', 'audit', 'queue', 'ready']
  const text = `select ${tables.map((table) => `(select count(*) from belfry.${table}) as ${table}`).join(', ')}`
  return databaseOf(desk.store).read(() => all(both('test hooks written', text)))
}
