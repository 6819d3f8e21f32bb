import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Shell } from '../../e2e/belfry-process.ts'

const file = (every: string, more = '') => `source: ops
queues:
  default: { maxConcurrent: 3 }
schedules:
  ping: { every: ${every}, target: { command: [/bin/true] } }
${more}server:
  listen: 127.0.0.1:0
`

describe.each(['sqlite', 'postgres'] as const)('belfry up beside a belfry.yaml on %s', (database) => {
  it('applies it, applies what changes of it, and keeps the last good state when an edit is wrong', async () => {
    const shell = new Shell(database)
    shell.write('belfry.yaml', file('1h'))
    const worker = shell.start('up', { env: { BELFRY_LISTEN: '' } })
    await worker.told(/It listens at (\S+) /)
    expect(worker.stdout).toMatch(/belfry\.yaml was applied for source ops: 2 created/)
    const every = async () => (await shell.json<{ everyMs: number }>('schedule show ping')).everyMs
    expect(await every()).toBe(3_600_000)

    shell.write('belfry.yaml', file('2h', '  pong: { every: 1h, target: { command: [/bin/true] } }\n'))
    await worker.told(/1 created, 1 updated, 0 deleted/)
    expect(await every()).toBe(7_200_000)

    shell.write('belfry.yaml', file('soon'))
    await worker.told(/was not applied, and nothing was changed: .*schedules\.ping\.every/)
    expect(await every()).toBe(7_200_000)
    const doctor = await shell.belfry('doctor')
    expect(doctor.exit).toBe(1)
    expect(doctor.stdout).toContain('schedules.ping.every')
    const [, url = ''] = /It listens at (\S+) /.exec(worker.stdout) ?? []
    const token = readFileSync(join(shell.folder, '.belfry', 'token'), 'utf8').trim()
    const health = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } })
    expect(await health.json()).toMatchObject({ status: 'degraded', reasons: [{ check: 'config', state: 'wrong' }] })

    shell.write('belfry.yaml', file('3h', '  pong: { every: 1h, target: { command: [/bin/true] } }\n'))
    await vi.waitUntil(async () => (await every()) === 10_800_000, { timeout: 60_000, interval: 100 })
    await vi.waitUntil(async () => (await shell.belfry('doctor')).exit === 0, { timeout: 60_000, interval: 100 })
  })

  it('does not bring back what was deleted, when it begins again with what the source said before', async () => {
    const shell = new Shell(database)
    const [old, fresh] = [file('1h', '  gone: { every: 1h, target: { command: [/bin/true] } }\n'), file('1h')]
    for (const text of [old, fresh]) {
      shell.write('belfry.yaml', text)
      await shell.belfry('apply')
    }
    shell.write('belfry.yaml', old)
    const worker = await shell.up()
    await worker.told(/has content that source ops had before/)
    expect(await shell.json<object[]>('schedule list')).toHaveLength(1)
  })
})
