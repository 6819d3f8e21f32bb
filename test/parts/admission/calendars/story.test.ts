import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Shell } from '../../../e2e/belfry-process.ts'

const holidays = `BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART;VALUE=DATE:20201225
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
SUMMARY:When?
END:VEVENT
END:VCALENDAR
`

describe.each(['sqlite', 'postgres'] as const)('at the terminal on %s', (database) => {
  it('a calendar is put with the holidays of a file, tested, followed, and keeps work from starting until it is opened', async () => {
    const shell = new Shell(database)
    const typed = (...words: string[]) => shell.start(words).ended
    writeFileSync(join(shell.folder, 'holidays.ics'), holidays)
    const zoned = ['--zone', 'Europe/Paris']
    // Two minutes on a Sunday: the test does not run then.
    const put = await typed(
      'calendar',
      'put',
      'rare',
      ...zoned,
      '--open',
      'sun 04:00-04:02',
      '--closed',
      '2026-01-04',
      '--closed-file',
      'holidays.ics',
    )
    expect(put).toMatchObject({ exit: 0 })
    expect(put.stdout).toMatch(/^created calendar rare \(version 1, Europe\/Paris\), closed until [^i]/)
    expect(put.stdout).toMatch(
      /closed on 2026-01-04, 12-25\n {2}1 events of the file close it\n {2}not taken: line 6: BEGIN:VEVENT has no DTSTART/,
    )
    const { stdout: openings } = await typed('calendar', 'test', 'rare', '--from', '2026-03-21T00:00Z', '--days', '10')
    expect(openings).toMatch(/2026-03-22 04:00 Europe\/Paris +2026-03-22 04:02 Europe\/Paris +2 min/)
    expect(openings).toMatch(/2026-03-29 04:00.*the clocks go forward by 1 h on 2026-03-29 at 02:00/)
    const wrong = await typed('calendar', 'put', 'wrong', '--open', 'mon-xyz 08:00-18:00', '--zone', 'Europe/Pariss')
    expect(wrong).toMatchObject({ exit: 2, stdout: '' })
    expect(wrong.stderr).toMatch(
      /--zone +is "Europe\/Pariss"[\s\S]*Europe\/Paris, if that was meant[\s\S]*--open +.*wrong at character 5/,
    )

    const several = ['--open', 'mon,wed 08:00-12:00', '--open', 'fri 08:00-09:00', '--closed', '2026-12-25,01-01']
    expect(await typed('calendar', 'put', 'several', ...several, '--json')).toMatchObject({ exit: 0 })
    expect(await shell.json('calendar show several')).toMatchObject({
      open: ['mon,wed 08:00-12:00', 'fri 08:00-09:00'],
      closedDates: ['2026-12-25', '01-01'],
    })

    const worker = await shell.up()
    await typed('queue', 'set', 'agents', '--calendar', 'rare')
    const { id } = await shell.json<{ id: string }>('run enqueue --queue agents -- echo dong')
    const { stdout: why } = await typed('explain', 'run', id)
    expect(why).toMatch(/Calendar rare of queue agents is closed\.[\s\S]*calendar put rare --open/)
    const { stdout: all } = await typed('admission')
    expect(all).toMatch(/queue:agents +1 +calendar/)
    expect(await typed('calendar', 'delete', 'rare', '--yes')).toMatchObject({ exit: 4 })
    await shell.belfry('schedule create digest --every 1h --queue agents -- echo ding')
    const { stdout: forced } = await typed('schedule', 'run', 'digest', '--force')
    const [, run = ''] = /^created (r-\w+); closed calendars do not keep it from starting/.exec(forced) ?? []
    await worker.told(new RegExp(`Run ${run}, attempt 1, completed`))
    expect(await shell.json(`run show ${id}`)).toMatchObject({ status: 'ready', fence: 0 })

    await typed('calendar', 'put', 'rare', '--open', 'mon-sun 00:00-24:00')
    await worker.told(new RegExp(`Run ${id}, attempt 1, completed`))
    expect(await typed('calendar', 'revert', 'rare')).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('version 3'),
    })
  })

  it('a run by hand says that it waits for a calendar, and a forced one that it does not', async () => {
    const shell = new Shell(database)
    const missing = await shell.belfry('calendar put rare --closed-file missing.ics')
    expect(missing).toMatchObject({ exit: 2, stderr: expect.not.stringContaining('--open') })
    await shell.belfry(['calendar', 'put', 'rare', '--zone', 'UTC', '--open', 'sun 04:00-04:02'])
    await shell.belfry('schedule create digest --every 1h --calendar rare -- echo ding')
    const kept = await shell.belfry('schedule run digest')
    expect(kept.stdout).toMatch(/^created r-\w+\n {2}it waits: Calendar rare is closed\. It may start in/)
    const forced = await shell.belfry('schedule run digest --force')
    const [, run = ''] = /^created (r-\w+); closed calendars do not keep it from starting/.exec(forced.stdout) ?? []
    expect((await shell.belfry(`run show ${run}`)).stdout).toMatch(/calendar +none, because it was forced/)
    expect((await shell.belfry(`explain run ${run}`)).stdout).toContain('A person forced it: closed calendars')
  })
})
