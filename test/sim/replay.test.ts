import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Ground } from '../../sim/ground.ts'
import { type Broken, live } from '../../sim/life.ts'
import { brokenText } from '../../sim/report.ts'
import { LoneRun } from '../../src/store/runs/lone-run.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let ground: Ground

beforeEach(async () => {
  ground = await Ground.lay()
})

afterEach(() => {
  vi.restoreAllMocks()
  ground.close()
})

describe('a seed is a history', () => {
  it('lives the same life again on the same ground, on a new one, and in another process', async () => {
    const lives = [await live(11, ground), await live(12, ground), await live(11, ground)]
    const [first, other, again] = lives.map(({ steps, hash }) => `${steps} steps, history ${hash}`)
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    expect(await inAnotherProcess(11)).toContain(`seed 11: ${first}, all held`)
  })

  it('breaks at the same step again, and shows what came before', async () => {
    sabotage(ground, { after: 'insert on lease', when: 'new.fence = 2', does: 'update lease set fence = 9' })
    const broken = await firstBroken(200)
    const again = await live(broken.seed, ground)
    expect(again.broken).toEqual(broken)
    expect(broken.last.filter((line) => !line.startsWith(' ')).length).toBeLessThanOrEqual(30)
    expect(brokenText(broken)).toContain(`npm run sim -- --seed ${broken.seed}`)
  })

  it('holds where it once broke', async () => {
    for (const name of savedSeeds()) {
      const { seed } = JSON.parse(readFileSync(`${root}sim/seeds/${name}`, 'utf8')) as Broken
      const { broken } = await live(seed, ground)
      if (broken !== null) expect.fail(brokenText(broken))
    }
  })
})

describe('a store that cheats is caught:', () => {
  it.each([
    ['its leases lie beside its line', 'insert on lease', `new.fence = 1`, putBackInLine, /one place|counted/],
    ['an end is written twice', 'insert on attempt', `new.ends is not null`, endAgain, /final|once|stale/],
    ['a fence is used again', 'insert on lease', 'new.fence > 1', 'update lease set fence = 1', /fence/],
    ['an accepted run is dropped', 'delete on ready', 'old.fence = 0', dropLease, /one place|record|taken back/],
    ['a schedule forgets its instant', 'update on schedule', hasFired, forgetInstant, /chain|wakes/],
    ['an occurrence has no end', 'insert on ledger', 'new.run_id is null', 'delete from ledger', /ledger/],
  ])('%s', async (_, after, when, does, says) => {
    sabotage(ground, { after, when, does })
    expect((await firstBroken(300)).invariant).toMatch(says)
  })

  it('who leased with a run is told of nothing when their commit broke off', async () => {
    const answer = LoneRun.prototype.answer
    vi.spyOn(LoneRun.prototype, 'answer').mockImplementation(function (this: LoneRun, answerTo) {
      const nothing = {
        leases: [],
        skipped: [],
        broken: [],
        more: false,
        inFlight: 0,
        available: 0,
        full: false,
        keyed: false,
      }
      answer.call(this, (request) => answerTo(request).catch(() => nothing))
    })
    expect((await firstBroken(300)).invariant).toMatch(/hears the same/)
  })
})

const putBackInLine = `insert into ready select queue_id, 0, 100, leased_at, run_id, ns, fence, attempts, releases, deaths,
  concurrency_key from lease where run_id = new.run_id`
const endAgain = `insert into attempt select run_id, fence + 100, ns, queue_id, worker_id, started_at, ended_at, outcome,
  reason, ends from attempt where run_id = new.run_id and fence = new.fence and new.fence < 100`
const dropLease = 'delete from lease where run_id = old.run_id'
const hasFired = 'new.last_planned_at is not old.last_planned_at'
const forgetInstant = 'update schedule set wake_at = null where id = new.id'

/** Makes the store do something that it never does by itself. */
function sabotage({ handle }: Ground, { after, when, does }: { after: string; when: string; does: string }): void {
  const own = does.includes('where') || does.startsWith('insert') ? does : `${does} where ${keyOf(after)}`
  handle.exec(`create temp trigger sabotage after ${after.replace(' on ', ' on main.')} when ${when} begin ${own}; end`)
}

function keyOf(after: string): string {
  return after.endsWith('ledger') ? 'schedule_id = new.schedule_id and from_at = new.from_at' : 'run_id = new.run_id'
}

async function firstBroken(seedsMax: number): Promise<Broken> {
  for (let seed = 0; seed < seedsMax; seed++) {
    const { broken } = await live(seed, ground)
    if (broken !== null) return broken
  }
  return expect.fail(`Nobody noticed within ${seedsMax} seeds.`)
}

function savedSeeds(): string[] {
  try {
    return readdirSync(`${root}sim/seeds`).filter((name) => name.endsWith('.json'))
  } catch {
    // Nothing has broken yet, or nothing that was worth keeping.
    return []
  }
}

async function inAnotherProcess(seed: number): Promise<string> {
  const outDir = `${root}build/replay`
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: { ssr: `${root}sim/main.ts`, outDir, target: 'node20', minify: false },
  })
  const { stdout } = await promisify(execFile)(process.execPath, [`${outDir}/main.js`, '--seed', String(seed)])
  return stdout
}
