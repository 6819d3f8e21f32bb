import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { Running } from '../e2e/belfry-process.ts'
import { PostgresCluster } from '../faults/postgres-cluster.ts'

const patienceMs = 60_000

async function there(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 10))
}

it(
  'a STOP file stops a worker whose PostgreSQL was taken away: its command ends, and nothing starts when the server is back',
  async () => {
    const cluster = await PostgresCluster.start()
    onTestFinished(() => cluster.stop())
    const folder = mkdtempSync(join(tmpdir(), 'belfry-gone-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, '.belfry'))
    const worker = new Running(['up', '--store', cluster.url], { folder })
    onTestFinished(async () => {
      worker.signal('SIGKILL')
      await worker.ended
    })
    await worker.told(/works on|worker\.started/)
    const store = await openStore(cluster.url)
    onTestFinished(() => store.close())
    const first = {
      command: ['sh', '-c', 'touch began; while [ ! -e go ]; do sleep 0.05; done; touch ended'],
      cwd: folder,
    }
    const [work] = await store.do(enqueue, [{ target: first }])
    await there(join(folder, 'began'))

    await cluster.stopAtOnce()
    await worker.told(/did not answer/)
    writeFileSync(join(folder, '.belfry/STOP'), 'The database is moved.\n')
    await worker.told(/fires and leases nothing: .*STOP: The database is moved/)
    writeFileSync(join(folder, 'go'), '')
    await there(join(folder, 'ended'))

    await cluster.startAgain()
    await worker.told(new RegExp(`Run ${work?.id}, attempt 1, completed`))
    const [next] = await store.do(enqueue, [{ target: { command: ['touch', 'started'], cwd: folder } }])
    await worker.told(/answers again/)
    rmSync(join(folder, '.belfry/STOP'))
    await worker.told(/fires and leases again/)
    await there(join(folder, 'started'))
    expect(worker.stdout + worker.stderr).not.toMatch(new RegExp(`Run ${next?.id}[\\s\\S]*fires and leases again`))
    expect(await store.look(findRun, work?.id ?? '')).toMatchObject({ status: 'completed', fence: 1 })
  },
  patienceMs,
)
