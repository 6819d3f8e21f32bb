import { plainText } from '../schedule/plain-text.ts'
import { indented, type Sheet } from '../show.ts'
import type { Check, Diagnosis, Finding } from './diagnosis.ts'

/** One line a check, its findings with what to do, and one sentence of summary at the end. */
export function showDiagnosis({ store, checks }: Diagnosis, sheet: Sheet): string {
  const lines = sheet
    .aligned(checks.map((check) => [marked(check, sheet), check.check, sheet.spelled(check.says)]))
    .split('\n')
  const told = checks.flatMap((check, index) => [lines[index] ?? '', ...below(check, sheet)])
  return [sheet.paint.bold(plainText(store)), ...told, '', summary(checks, sheet)].join('\n')
}

const signs = { ok: '✓', note: '!', wrong: '✗' } as const
const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const

/** The word as well as the colour, for terminals and readers without colours. */
function marked({ state }: Pick<Check, 'state'>, { paint }: Sheet): string {
  return paint[colours[state]](`${signs[state]} ${state}`)
}

function below({ findings, more }: Check, sheet: Sheet): string[] {
  const { paint } = sheet
  return [
    ...findings.map((finding) => indented(foundOf(finding, sheet), 4)),
    ...(more === 0 ? [] : [indented(paint.dim(`and ${more} more`), 4)]),
  ]
}

function foundOf({ state, says, next, fixed }: Finding, sheet: Sheet): string {
  const { paint } = sheet
  if (fixed !== undefined) return `${plainText(says)}\n  ${paint.green('fixed:')} ${plainText(fixed)}`
  return `${paint[colours[state]](sheet.spelled(says))}\n  ${paint.bold('next:')} ${sheet.spelled(next ?? '')}`
}

function summary(checks: readonly Check[], { paint }: Sheet): string {
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length
  const [wrong, notes] = [count('wrong'), count('note')]
  const mended = checks.flatMap(({ findings }) => findings).filter(({ fixed }) => fixed !== undefined).length
  const of = `of ${checks.length} checks`
  const parts = [
    ...(wrong === 0 ? [] : [`${wrong} ${of} found something wrong`]),
    ...(notes === 0
      ? []
      : [`${notes} ${wrong === 0 ? `${of} ` : ''}${notes === 1 ? 'has' : 'have'} something to note`]),
    ...(mended === 0 ? [] : [`${mended} ${mended === 1 ? 'thing was' : 'things were'} fixed`]),
  ]
  const said = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts[0]
  if (said === undefined) return paint.green('Nothing is wrong.')
  if (wrong > 0) return paint.red(`${said}.`)
  // A person who reads only the first words must still see that there are notes.
  return (notes === 0 ? paint.green : paint.yellow)(`${said}; nothing is wrong.`)
}
