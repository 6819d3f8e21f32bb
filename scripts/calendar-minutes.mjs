/**
 * Compares opening hours with a judge that walks every minute of ten years in 40 zones. Run after a build:
 *
 *   node scripts/calendar-minutes.mjs [--years 10] [--zones Europe/Paris,UTC]
 */
import { parseArgs } from 'node:util'
import { opening } from '../dist/core.js'
import { calendars, firstDisagreement } from '../test/core/opening-judge.mjs'

const known =
  `Africa/Casablanca America/Asuncion America/Caracas America/Havana America/Los_Angeles America/New_York America/Nuuk
  America/Santiago America/Sao_Paulo America/St_Johns Antarctica/Troll Asia/Amman Asia/Beirut Asia/Gaza Asia/Kathmandu Asia/Kolkata
  Asia/Pyongyang Asia/Tehran Asia/Tokyo Atlantic/Azores Australia/Adelaide Australia/Eucla Australia/Lord_Howe Australia/Sydney Europe/Berlin
  Europe/Chisinau Europe/Dublin Europe/Istanbul Europe/Lisbon Europe/London Europe/Paris Europe/Samara Pacific/Apia Pacific/Auckland
  Pacific/Chatham Pacific/Easter Pacific/Kiritimati Pacific/Marquesas Pacific/Norfolk UTC`.split(/\s+/)

const { values } = parseArgs({ options: { years: { type: 'string', default: '10' }, zones: { type: 'string' } } })
const zones = values.zones?.split(',') ?? known
const stretch = { fromMs: Date.UTC(2020, 0, 1), untilMs: Date.UTC(2020 + Number(values.years), 0, 1) }
let wrong = 0
for (const zone of zones) {
  for (const [index, calendar] of calendars.entries()) {
    const found = firstDisagreement(opening, { zone, ...calendar }, stretch)
    if (found === null) continue
    wrong += 1
    console.log(`${zone}, calendar ${index}: differs at ${found}`)
  }
}
const minutes = (zones.length * calendars.length * (stretch.untilMs - stretch.fromMs)) / 60_000
console.log(
  `${minutes.toLocaleString('en')} minutes in ${zones.length} zones: ${wrong === 0 ? 'no difference' : `${wrong} differ`}`,
)
process.exitCode = wrong === 0 ? 0 : 1
