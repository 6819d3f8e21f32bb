import { nextRun } from '../../dist/core.js'

const now = Date.UTC(2026, 0, 1)
const kinds = {
  'interval, plain': { schedule: { timing: { everyMs: 60_000 } }, hints: {} },
  'interval, backed off, with hints and bounds': {
    schedule: { timing: { everyMs: 60_000 }, minMs: 30_000, maxMs: 86_400_000 },
    hints: {
      interval: { ms: 600_000, expiresAt: now + 3_600_000 },
      oneshot: { at: now + 300_000, expiresAt: now + 1_800_000 },
    },
  },
  'fixed rate': { schedule: { timing: { everyMs: 60_000, from: 'start' } }, hints: {} },
  'cron in a zone': { schedule: { timing: { cron: '0 9 * * 1-5', zone: 'Europe/Paris' } }, hints: {} },
}

/** How often a second the governor answers when a schedule runs next, on one core. */
export async function run(bench) {
  const entries = Object.keys(kinds).map((kind) => ({
    contestant: { name: 'Belfry', place: 'nowhere' },
    setting: { name: kind },
    input: { kind, calls: bench.quick ? 100_000 : 500_000 },
  }))
  // Each is over in a moment, so a quick run takes three rounds as well.
  return { rows: await bench.alternate(import.meta.url, entries, { rounds: Math.max(3, bench.rounds) }) }
}

export function child({ kind, calls }) {
  answersPerSecond(kinds[kind], calls / 4)
  return { perSecond: answersPerSecond(kinds[kind], calls) }
}

function answersPerSecond({ schedule, hints }, calls) {
  let checksum = 0
  const startedAt = performance.now()
  for (let call = 0; call < calls; call += 1) {
    const anchorAt = now - (call % 50_000)
    const state = { failureCount: call % 3, hints, anchorAt, lastPlannedAt: anchorAt - 1_000, gridAnchorAt: 0 }
    checksum += nextRun({ now, schedule, state }).at % 7
  }
  if (Number.isNaN(checksum)) throw new Error('The governor gave no instant.')
  return (calls / (performance.now() - startedAt)) * 1_000
}
