// Measures how often a second the governor answers for an interval schedule, on one core: the median of five rounds.
// Run after the build: node scripts/bench-governor.mjs
import { nextRun, systemClock } from '../dist/core.js'

const calls = 500_000
const rounds = 5
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

function callsPerSecond({ schedule, hints }) {
  let checksum = 0
  const startedAt = systemClock.monotonic()
  for (let call = 0; call < calls; call += 1) {
    const anchorAt = now - (call % 50_000)
    const state = { failureCount: call % 3, hints, anchorAt, lastPlannedAt: anchorAt - 1_000, gridAnchorAt: 0 }
    checksum += nextRun({ now, schedule, state }).at % 7
  }
  const seconds = (systemClock.monotonic() - startedAt) / 1_000
  if (Number.isNaN(checksum)) throw new Error('The governor gave no instant.')
  return Math.round(calls / seconds)
}

for (const [name, kind] of Object.entries(kinds)) {
  callsPerSecond(kind)
  const measured = Array.from({ length: rounds }, () => callsPerSecond(kind)).sort((a, b) => a - b)
  const median = measured[Math.floor(rounds / 2)]
  console.log(`${name.padEnd(44)} ${median.toLocaleString('en-US').padStart(12)} calls/s`)
}
