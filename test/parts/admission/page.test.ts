import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shellWords } from '../../doors/cli/shell-words.ts'
import { Shell } from '../../e2e/belfry-process.ts'
import { Provider } from './accounts/provider.ts'

const page = readFileSync(new URL('../../../docs/admission.md', import.meta.url), 'utf8')

/** What the page types, and the lines that it says are answered. */
const steps = [...page.matchAll(/```console\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.split(/^\$ belfry /m).slice(1))
  .map((step) => {
    const [typed = '', ...lines] = step.trimEnd().split('\n')
    return { typed, lines }
  })

const holidays = `BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20260501
RRULE:FREQ=YEARLY
SUMMARY:Labour Day
END:VEVENT
END:VCALENDAR
`

/** A line of the page as a pattern: an ellipsis stands for anything, and so do blanks that align columns. */
function patternOf(line: string): RegExp {
  const parts = line.trim().split('…')
  const written = parts.map((part) =>
    part
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/\s+/g, '\\s+'),
  )
  return new RegExp(written.join('.*'))
}

describe.each(['sqlite', 'postgres'] as const)('docs/admission.md on %s', (database) => {
  it('plays as it says', async () => {
    const shell = new Shell(database)
    const provider = await Provider.open()
    shell.write('holidays.ics', holidays)
    const worker = await shell.up('--allow-private --queues default')
    const ids = new Map<string, string>()
    const known = (text: string) =>
      [...ids]
        .reduce((all, [named, id]) => all.replaceAll(named, id), text)
        .replaceAll('https://api.example.org/v1', provider.url)
    expect(steps.length).toBeGreaterThan(15)
    for (const { typed, lines } of steps) {
      const { stdout, stderr } = await shell.start(shellWords(known(typed))).ended
      const [, id] = /^enqueued (r-\w+)/m.exec(stdout) ?? []
      const [, named] = /^enqueued (r-\w+)/m.exec(lines.join('\n')) ?? []
      if (id !== undefined && named !== undefined) ids.set(named, id)
      for (const line of lines) expect(`${stdout}${stderr}`, typed).toMatch(patternOf(known(line)))
      if (named !== 'r-12') continue
      await provider.come(1)
      provider.answer(429, { 'retry-after': '7200' })
      await worker.told(/Work on account:claude-max is held/)
    }
  })
})
