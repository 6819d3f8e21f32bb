import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { doctorPage, explainPage } from '../../../scripts/reasons-page.mjs'
import { runReasons } from '../../../src/operations/reasons/run-reasons.ts'
import { scheduleReasons } from '../../../src/operations/reasons/schedule-reasons.ts'
import { kernelChecks } from '../../../src/operations/store/doctor.ts'
import { checks, holdReasons } from '../../../src/table.ts'

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
const reasons = { 'A schedule': scheduleReasons, 'A run': runReasons, 'A hold': holdReasons }

it('docs/explain.md has every code that can be answered, in the words of the catalogue; if not, npm run reference writes it anew', () => {
  expect(page('explain.md')).toBe(explainPage(page('explain.md'), reasons))
  expect(page('explain.md')).toContain(`| \`in-line\` | ${runReasons['in-line'].says} |`)
})

it('docs/doctor.md has every check in its own words; if not, npm run reference writes it anew', () => {
  expect(page('doctor.md')).toBe(doctorPage(page('doctor.md'), [...kernelChecks, ...checks]))
  expect(page('doctor.md')).toContain(`### overdue\n\n${kernelChecks.find(({ check }) => check === 'overdue')?.says}\n`)
})

it('every code and every check is told in sentences', () => {
  const all = [...Object.values(reasons).flatMap((each) => Object.values(each)), ...kernelChecks, ...checks]
  for (const { says, unblocks } of all) {
    expect(says).toMatch(/^[A-Z].*\.$/)
    expect(unblocks).toMatch(/^[A-Z`].*\.$/)
  }
})

it('a code of a run and the same code of a schedule have one tone', () => {
  for (const [code, { tone }] of Object.entries(scheduleReasons)) {
    if (code in runReasons) expect(runReasons[code as keyof typeof runReasons].tone).toBe(tone)
  }
})
