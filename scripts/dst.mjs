/**
 * Judges law 9 around every change of offset of many zones over ten years, and around some famous changes of the past.
 * Each window reaches three days to either side. Run after a build: node scripts/dst.mjs
 */
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { cron } from '../dist/core/cron/cron.js'
import { disagreements, expressionsNear, judge, readWindow, transitions } from '../test/core/cron/law9-judge.mjs'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const FROM_MS = Date.UTC(2022, 0, 1)
const UNTIL_MS = Date.UTC(2032, 0, 1)
const EXPRESSIONS_PER_TRANSITION = 30

const ZONES =
  `Africa/Cairo Africa/Casablanca Africa/El_Aaiun Africa/Ceuta America/Anchorage America/Adak America/Asuncion
  America/Chicago America/Denver America/Halifax America/Havana America/Los_Angeles America/Mexico_City America/Miquelon
  America/New_York America/Nuuk America/Port-au-Prince America/Santiago America/Scoresbysund America/St_Johns
  America/Tijuana America/Ciudad_Juarez Antarctica/Troll Antarctica/Palmer Antarctica/Macquarie Asia/Almaty Asia/Amman
  Asia/Beirut Asia/Damascus Asia/Famagusta Asia/Gaza Asia/Hebron Asia/Jerusalem Asia/Nicosia Asia/Qostanay Asia/Tehran
  Atlantic/Azores Atlantic/Bermuda Australia/Adelaide Australia/Hobart Australia/Lord_Howe Australia/Sydney Europe/Athens
  Europe/Chisinau Europe/Dublin Europe/Istanbul Europe/Kyiv Europe/Lisbon Europe/London Europe/Moscow Europe/Paris
  Pacific/Auckland Pacific/Chatham Pacific/Easter Pacific/Fiji Pacific/Norfolk Asia/Kolkata Asia/Tokyo UTC`.split(/\s+/)

/** Whole days skipped, half hours, offsets changed for good, two changes of one Ramadan, a shift at midnight. */
const FAMOUS = [
  ['Pacific/Apia', 2011],
  ['Pacific/Fakaofo', 2011],
  ['Pacific/Kwajalein', 1993],
  ['Pacific/Kiritimati', 1994],
  ['Asia/Pyongyang', 2015],
  ['Asia/Pyongyang', 2018],
  ['America/Caracas', 2007],
  ['America/Caracas', 2016],
  ['Asia/Kathmandu', 1985],
  ['America/Sao_Paulo', 2018],
  ['Africa/Cairo', 2010],
  ['Africa/Cairo', 2014],
  ['Africa/Casablanca', 2012],
  ['Africa/Juba', 2021],
  ['Europe/Volgograd', 2020],
  ['Europe/Samara', 2010],
  ['Asia/Tehran', 2021],
  ['Asia/Colombo', 1996],
  ['Antarctica/Casey', 2010],
  ['Antarctica/Casey', 2018],
  ['America/Fort_Nelson', 2015],
  ['Asia/Dhaka', 2009],
]

const SPANS = [
  ...ZONES.map((zone) => ({ zone, fromMs: FROM_MS, untilMs: UNTIL_MS })),
  ...FAMOUS.map(([zone, year]) => ({ zone, fromMs: Date.UTC(year, 0, 1), untilMs: Date.UTC(year + 1, 0, 10) })),
]

function judgeSpan({ zone, fromMs, untilMs }) {
  const result = { zone, transitions: 0, comparisons: 0, firings: 0, failures: [] }
  for (const transitionMs of transitions(zone, fromMs, untilMs)) {
    result.transitions += 1
    const window = readWindow(zone, transitionMs - 3 * DAY_MS, transitionMs + 3 * DAY_MS, 60_000)
    const expressions = expressionsNear(zone, transitionMs, EXPRESSIONS_PER_TRANSITION)
    for (const expression of expressions) compare(result, expression, window)
    if (result.transitions % 4 !== 1) continue
    const bySecond = readWindow(zone, transitionMs - 2 * HOUR_MS, transitionMs + 2 * HOUR_MS, 1_000)
    for (const expression of expressions.slice(0, 4)) compare(result, `*/25 ${expression}`, bySecond)
  }
  return result
}

function compare(result, expression, window) {
  const expected = judge(expression, window)
  result.comparisons += 1
  result.firings += expected.length
  for (const difference of disagreements(cron(expression, window.zone), expected, window)) {
    result.failures.push({ expression, zone: window.zone, ...difference })
  }
}

async function inWorkers() {
  const workers = Math.min(2, availableParallelism())
  const shares = Array.from({ length: workers }, (_, share) => SPANS.filter((_, index) => index % workers === share))
  const answers = shares.map(
    (spans) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(new URL(import.meta.url), { workerData: spans })
        worker.once('message', resolve)
        worker.once('error', reject)
      }),
  )
  return (await Promise.all(answers)).flat()
}

if (isMainThread) {
  const results = await inWorkers()
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0)
  const failures = results.flatMap((result) => result.failures)
  for (const failure of failures.slice(0, 20)) console.error(JSON.stringify(failure))
  console.log(`zones        ${new Set(results.map(({ zone }) => zone)).size}`)
  console.log(`transitions  ${total('transitions')}`)
  console.log(`comparisons  ${total('comparisons')} (an expression over a window, next and previous)`)
  console.log(`firings      ${total('firings')}`)
  console.log(`failures     ${failures.length}`)
  if (failures.length > 0 || total('transitions') < 400) process.exitCode = 1
} else {
  parentPort.postMessage(workerData.map(judgeSpan))
}
