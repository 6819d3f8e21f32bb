/** The host of examples/outside-host for machines without Python: the same words, to the same server. */
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const { BELFRY_URL = '', BELFRY_TOKEN = '' } = process.env
const [name = '', queue = 'default'] = process.argv.slice(2)

async function ask(verb, body) {
  for (;;) {
    const headers = { authorization: `Bearer ${BELFRY_TOKEN}`, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${BELFRY_URL}/api/sched/${verb}`, sent).catch(() => null)
    if (response !== null) return { isOk: response.ok, answer: await response.json() }
    await pause(500)
  }
}

const say = (what, run) => writeSync(1, `${what} ${run.runId} ${run.fence} ${name}\n`)

for (;;) {
  const { answer } = await ask('lease', { host: name, queue, limit: 1, requestKey: randomUUID() })
  for (const run of answer.leases) {
    const renewing = setInterval(() => void ask('renew', { lease: run.lease }), 300)
    say('begin', run)
    await pause(run.payload?.ms ?? 0)
    clearInterval(renewing)
    if (run.payload?.fails) {
      await ask('release', { lease: run.lease, failed: true, reason: 'it fails, as it was asked to' })
      continue
    }
    say('done', run)
    await ask('complete', { lease: run.lease, result: { by: name } })
  }
  if (answer.leases.length === 0) await pause(100)
}
