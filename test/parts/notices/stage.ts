import type { Notice } from '../../../src/parts/notices/notice.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { minute, type Stage } from '../../store/schedule-stage.ts'

export const http = (path: string) => ({ http: { url: `https://example.org/${path}`, method: 'POST' } })
export const broken = { kind: 'failed', reason: 'broken', retryable: false } as const

/** The notices that were made since the last look, oldest first, each ended so. */
export async function told(stage: Stage, outcome: 'success' | 'failed' = 'success') {
  const { store } = stage
  const can = { kinds: ['http', 'command'] }
  const workerId = await store.do(registerWorker, { name: 'teller', host: 'h', can, beatMs: minute })
  const { leases } = await store.lease({ queue: 'notices', workerId, claimId: `of ${workerId}`, can, limit: 100 })
  const end = outcome === 'success' ? ({ kind: 'success' } as const) : broken
  await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome: end })))
  return leases.map((lease) => ({ ...lease, notice: lease.payload as Notice }))
}

/** What was told, in the words that matter. */
export async function words(stage: Stage): Promise<string[]> {
  return (await told(stage)).map(({ notice, target }) => {
    const { url = '' } = (target as { readonly http?: { readonly url: string } } | null)?.http ?? {}
    const of = notice.schedule ?? `queue ${notice.queue}`
    return `${notice.event} of ${of} to ${url.replace('https://example.org/', '')}`
  })
}

export async function enqueue({ store }: Stage, queue = 'default', onExhausted?: 'park' | 'fail'): Promise<string> {
  const [answer] = await store.enqueue([
    { queue, target: { handler: 'work' }, ...(onExhausted !== undefined && { onExhausted }) },
  ])
  return answer?.id ?? ''
}

/** Work without a schedule that ends so. */
export async function work(stage: Stage, onExhausted: 'park' | 'fail', queue = 'default'): Promise<string> {
  const id = await enqueue(stage, queue, onExhausted)
  const [lease] = await stage.lease(1, queue)
  if (lease === undefined) throw new Error('nothing could go')
  await stage.fail(lease)
  return id
}
