import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draftOfCrontab } from '../../../src/parts/imports/crontab.ts'
import { commandIn, crontabLine, programName } from '../../../src/parts/imports/crontab-line.ts'
import { startAt } from '../../operations/desk.ts'

const usual = { system: false, zone: 'Europe/Paris', queue: 'crontab', prefix: '', now: startAt }

function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8')
}

describe('a crontab', () => {
  const { schedules, left } = draftOfCrontab(sample('crontab'), usual)

  it('becomes schedules, each with its command, its settings and the comment before it', () => {
    const bash = { SHELL: '/bin/bash', PATH: '/usr/local/bin:/usr/bin:/bin' }
    const command = (line: string) => ({ command: ['/bin/bash', '-c', line], env: bash })
    const paris = (cron: string) => ({ cron, zone: 'Europe/Paris' })
    expect(schedules.map(({ from, spec }) => [from, spec.name, spec.timing, spec.target])).toEqual([
      ['line 11', 'backup', paris('30 2 * * *'), command('/srv/backup.sh --full >> /var/log/backup.log 2>&1')],
      ['line 12', 'backup-2', paris('0 */6 * * 1-5'), command('/srv/backup.sh')],
      ['line 13', 'sweep', paris('@hourly'), command('cd /srv/app && ./bin/sweep --older-than 7d')],
      ['line 16', 'date', paris('5 0 * * *'), command('date +%F > /srv/today')],
      ['line 20', 'run', { cron: '0 9 * * mon-fri', zone: 'America/New_York' }, command('/opt/reports/run.py daily')],
    ])
    expect(schedules.map(({ spec }) => spec.description)).toEqual([
      'Backs up the database,\nwhole on Sundays.',
      ...[undefined, undefined, undefined, undefined],
    ])
    expect(schedules[0]?.spec).toMatchObject({ overlap: 'allow', missed: 'skip', queue: 'crontab' })
  })

  it('tells of every line what was not taken over, and why', () => {
    expect(left.map(({ where, what, why }) => `${where}: ${what}: ${why}`)).toEqual([
      expect.stringMatching(/^lines 1 to 3: comments: /),
      expect.stringMatching(/^line 7: MAILTO=ops@example.org: Belfry sends no mail/),
      expect.stringMatching(/^line 14: the line: it runs when the machine starts/),
      expect.stringMatching(/^line 15: the line: the text after its % would be the input/),
      expect.stringMatching(/^line 17: the line: cron is wrong in its minute field/),
      expect.stringMatching(/^line 21: the line: cron runs on days that match both/),
      expect.stringMatching(/^line 22: the line: it is neither a setting nor/),
      expect.stringMatching(/^every line: the folder it starts in: /),
      expect.stringMatching(/^every line: its timeout: /),
    ])
  })

  it('of the system has a user before each command, which is told', () => {
    const system = draftOfCrontab(sample('etc-crontab'), { ...usual, system: true, prefix: 'sys-' })
    expect(system.schedules.map(({ spec }) => [spec.name, spec.target?.command])).toEqual([
      ['sys-run-parts', 'cd / && run-parts --report /etc/cron.hourly'],
      ['sys-run-parts-2', 'test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )'],
      ['sys-php', '/usr/bin/php /var/www/cron.php'],
    ])
    const told = system.left.map(({ where, what }) => `${where}: ${what}`)
    expect(told).toEqual(expect.arrayContaining(['line 5: user root', 'line 7: user www-data', 'line 8: the line']))
  })

  it('keeps each setting for the lines behind it alone', () => {
    const { schedules: found } = draftOfCrontab(
      '0 1 * * * a\nX=1\n0 2 * * * b\nX="2 "\nCRON_TZ=UTC\n0 3 * * * c\n',
      usual,
    )
    expect(found.map(({ spec }) => [spec.target, spec.timing])).toEqual([
      [{ command: 'a' }, { cron: '0 1 * * *', zone: 'Europe/Paris' }],
      [
        { command: 'b', env: { X: '1' } },
        { cron: '0 2 * * *', zone: 'Europe/Paris' },
      ],
      [
        { command: 'c', env: { X: '2 ' } },
        { cron: '0 3 * * *', zone: 'UTC' },
      ],
    ])
  })

  it('begins in the home that it names', () => {
    const { schedules: found, left: told } = draftOfCrontab('HOME=/srv/app\n0 1 * * * ./run\n', usual)
    expect(found[0]?.spec.target).toMatchObject({ cwd: '/srv/app', env: { HOME: '/srv/app' } })
    expect(told.map(({ what }) => what)).not.toContain('the folder it starts in')
  })

  it('tells of the folder where only some lines have a home', () => {
    const { left: told } = draftOfCrontab('0 1 * * * a\nHOME=/srv\n0 2 * * * b\n', usual)
    expect(told.map(({ where, what }) => [where, what])).toEqual([
      ['each line without an absolute HOME', 'the folder it starts in'],
      ['every line', 'its timeout'],
    ])
  })

  it('hands TZ to its commands, and reads its calendars in the zone of cron, as cron does', () => {
    const { schedules: found } = draftOfCrontab('TZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=UTC\n0 2 * * * b\n', usual)
    expect(found.map(({ spec }) => [spec.timing, spec.target?.env])).toEqual([
      [{ cron: '0 1 * * *', zone: 'Europe/Paris' }, { TZ: 'Asia/Tokyo' }],
      [{ cron: '0 2 * * *', zone: 'UTC' }, { TZ: 'Asia/Tokyo' }],
    ])
  })

  it('is read without the mark that editors put before it, and with the line ends of others', () => {
    const { schedules: found, left: told } = draftOfCrontab('\uFEFFX=1\r\n0 1 * * * a\r\n', usual)
    expect(found.map(({ spec }) => spec.target)).toEqual([{ command: 'a', env: { X: '1' } }])
    expect(told.map(({ where }) => where)).toEqual(['every line', 'every line'])
  })

  it('that is taken for one of the system, or for none, makes no program of a user and no user of a program', () => {
    const wrongly = '0 1 * * * /srv/backup.sh --full\n0 2 * * * FOO=1 run it\n'
    const system = draftOfCrontab(wrongly, { ...usual, system: true })
    expect([system.schedules, system.left.map(({ why }) => why)]).toEqual([
      [],
      Array(2).fill(expect.stringContaining('no user before its command')),
    ])
    const users = draftOfCrontab('17 * * * *\troot\tcd / && run-parts /etc/cron.hourly\n', usual)
    expect([users.schedules, users.left.map(({ why }) => why)]).toEqual([
      [],
      [expect.stringContaining('the user root, as in a system crontab')],
    ])
  })

  it('tells that a shell is missing, and whose comments went with a line', () => {
    const { left: told } = draftOfCrontab('SHELL=\n0 1 * * * a\nSHELL=/bin/sh\n# b\0\n0 2 * * * b\n', usual)
    expect(told.map(({ where, what, why }) => [where, what, why])).toEqual([
      ['line 2', 'the line', expect.stringContaining('SHELL is empty')],
      ['line 5', 'the line, with the comments before it', expect.stringContaining('description')],
    ])
  })

  it('tells that a secret in its settings is stored as it stands, without saying it', () => {
    const { schedules: found, left: told } = draftOfCrontab('DB_PASSWORD=hunter2\nKEYS=1\n0 1 * * * a\n', usual)
    expect(found[0]?.spec.target?.env).toEqual({ DB_PASSWORD: 'hunter2', KEYS: '1' })
    expect(told[0]).toEqual({
      where: 'line 1',
      what: 'DB_PASSWORD',
      why: expect.stringContaining('stored as it is'),
      isTaken: true,
    })
    expect(JSON.stringify(told)).not.toMatch(/hunter2|KEYS/)
  })

  it('tells what cannot be handed to a command, and zones that nobody knows', () => {
    const { schedules: found, left: told } = draftOfCrontab('PWD=/x\nBELFRY_A=b\nCRON_TZ=Paris\n0 1 * * * a\n', usual)
    expect(found).toEqual([])
    expect(told.map(({ where, why }) => [where, why])).toEqual([
      ['line 1', expect.stringContaining('shells set by themselves')],
      ['line 2', expect.stringContaining('begins with BELFRY_')],
      ['line 4', expect.stringContaining('zone is "Paris"')],
    ])
  })

  it('lists a line that is too long for a target, and takes the others', () => {
    const { schedules: found, left: told } = draftOfCrontab(`0 1 * * * ${'a'.repeat(300_000)}\n0 2 * * * b\n`, usual)
    expect(found.map(({ from }) => from)).toEqual(['line 2'])
    expect(told[0]).toEqual({ where: 'line 1', what: 'the line', why: expect.stringContaining('its target has 3000') })
  })

  it('has no name twice, whatever the programs are called', () => {
    const { schedules: found } = draftOfCrontab(`${'0 1 * * * /a/x\n'.repeat(3)}0 1 * * * x-2\n0 1 * * * x\n`, usual)
    const names = found.map(({ spec }) => spec.name)
    expect(names).toEqual(['x', 'x-2', 'x-3', 'x-2-2', 'x-4'])
  })

  it('that is empty asks for nothing', () => {
    expect(draftOfCrontab('\n\n', usual)).toMatchObject({ schedules: [], left: [] })
  })

  it('loses no line: each becomes a schedule, a setting or a description, or is listed', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '# a comment',
        '  # another',
        'MAILTO=x',
        'A=b',
        'PATH = /bin',
        'TZ=UTC',
        '@reboot x',
        '@daily y',
      ),
      fc.constantFrom('* * * * * /a/b.sh', '0 0 */2 * 1 z', '* * * *', '99 * * * * q', '-5 * * * * r', '5 4 * * * a%b'),
      fc.string({ maxLength: 30 }).filter((text) => !/[\r\n]/.test(text)),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), (lines, system) => {
        const draft = draftOfCrontab(lines.join('\n'), { ...usual, system })
        const listed = new Set(draft.left.flatMap(({ where }) => numbersIn(where)))
        const made = new Set(draft.schedules.flatMap(({ from }) => numbersIn(from)))
        const texts = draft.schedules.map(({ spec }) => spec.description ?? '').join('\n')
        for (const [index, text] of lines.entries()) {
          const number = index + 1
          const read = crontabLine(text, { system })
          if (read.kind === 'blank' || listed.has(number) || made.has(number)) continue
          if (read.kind === 'comment') expect(texts, text).toContain(read.text.trim())
          else expect(read.kind, text).toBe('setting')
        }
        const names = draft.schedules.map(({ spec }) => spec.name)
        expect(new Set(names).size).toBe(names.length)
      }),
    )
  })
})

function numbersIn(where: string): number[] {
  const [, first, last = first] = /^lines? (\d+)(?: to (\d+))?$/.exec(where) ?? []
  if (first === undefined) return []
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
}

describe('a line', () => {
  it.each([
    ['A=b', { kind: 'setting', name: 'A', value: 'b' }],
    [' A = "b c" ', { kind: 'setting', name: 'A', value: 'b c' }],
    ["'A'='b'", { kind: 'setting', name: 'A', value: 'b' }],
    ['A=', { kind: 'setting', name: 'A', value: '' }],
    ['##  two', { kind: 'comment', text: ' two' }],
    ['*\t*  * * *   a  b ', { kind: 'job', calendar: '* * * * *', user: null, command: 'a  b' }],
    ['@daily a', { kind: 'job', calendar: '@daily', user: null, command: 'a' }],
    ['* * * * *', { kind: 'stray' }],
    ['@daily', { kind: 'stray' }],
  ])('%j', (text, line) => expect(crontabLine(text, { system: false })).toMatchObject(line))

  it.each([
    ['a \\% b', 'a % b'],
    ['a % b', null],
    ['%', null],
    ['a \\\\% b', null],
    ['a \\n b', 'a \\n b'],
    ['\\%\\%', '%%'],
  ])('the command %j is %j', (text, command) => expect(commandIn(text)).toBe(command))

  it.each([
    ['/srv/backup.sh --full', 'backup'],
    ['FOO=1 nice -n 10 /usr/bin/rsync -a', 'rsync'],
    ['cd /srv && ./bin/run', 'run'],
    ['[ -x /a ] && /a', 'a'],
    ['"/opt/my tool/x"', 'my'],
    ['cd /srv', 'cd'],
    ['...', 'job'],
  ])('the program of %j is called %j', (command, called) => expect(programName(command)).toBe(called))
})
