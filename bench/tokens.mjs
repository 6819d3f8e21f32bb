/** What a model reads, counted in the tokens of the encoding o200k_base. */
import { Tiktoken } from 'js-tiktoken/lite'
import ranks from 'js-tiktoken/ranks/o200k_base'

const encoding = new Tiktoken(ranks)

export function tokensIn(text) {
  return encoding.encode(text).length
}

const timings = [
  { cron: '0 9 * * 1-5', zone: 'Europe/Paris' },
  { cron: '*/15 * * * *', zone: 'America/New_York' },
  { every: '1h' },
  { every: '90m', from: 'start', startNow: true },
  { at: '2090-12-01T09:00Z' },
]
const words = ['nightly-report', 'sync-customers', 'probe', 'digest', 'launch']

/** Twenty schedules as a shop has them: a target, a payload, a description, a notification. Every fourth is paused. */
export const shop = Array.from({ length: 20 }, (_, n) => {
  const name = `${words[n % 5]}-${n}`
  const spec = {
    ...timings[n % 5],
    target: { http: { url: `https://api.example.com/jobs/${name}`, method: 'POST' } },
    payload: { customer: 'ACME', rows: [1, 2, 3] },
    description: `What ${name} is for, in a sentence or two. It must be done before nine, or the report is late.`,
    onFailure: { http: { url: 'https://hooks.example.com/T000/B000' } },
    tags: ['production', 'team-a'],
  }
  return { name, spec, pause: n % 4 === 0 ? { reason: 'The provider is away until further notice.' } : null }
})
