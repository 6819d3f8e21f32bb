import { afterEach, describe, expect, it } from 'vitest'
import { absentTool } from '../../src/doors/mcp/absent-tool.ts'
import { toolName } from '../../src/doors/mcp/tool-sets.ts'
import { chooseFeatures, refusalOfLeftOut } from '../../src/features.ts'
import { Belfry } from '../../src/index.ts'
import { type Feature, features } from '../../src/operations/feature-list.ts'
import { type AnyOperation, commandOf } from '../../src/operations/operation.ts'
import type { Part } from '../../src/part.ts'
import { parts } from '../../src/parts.ts'
import { routeOf } from '../../src/routes.ts'
import { pluralOf } from '../../src/table.ts'

/** The parts of each feature that is not a kind of target alone. */
const optional = Object.entries(features)
  .map(([name, { rooms = [name] }]) => [name as Feature, partsOf(rooms)] as const)
  .filter(([, rooms]) => rooms.length > 0)

function partsOf(rooms: readonly string[]): Part[] {
  return (parts as readonly Part[]).filter(({ name }) => rooms.includes(name))
}

function verbsOf({ nouns = {} }: Part): AnyOperation[] {
  return Object.values(nouns).flatMap(({ operations }) => Object.values(operations))
}

/** How a verb is asked for at each door. */
function askedFor(verb: AnyOperation): string[] {
  const { path } = routeOf(verb)
  const words = path.split('/').filter((word) => word !== '' && word !== 'api' && !word.startsWith('{'))
  return [
    commandOf(verb).join(' '),
    `${words[0]} ${words.at(-1)}`,
    toolName(verb),
    `${pluralOf(verb.noun)} ${verb.verb}`,
  ].filter((_, door) => door > 0 || verb.doors.cli === true)
}

afterEach(() => chooseFeatures(''))

describe.each(optional)('the feature %s', (name, rooms) => {
  it('is recognised in each of its verbs at every door while it is left out', () => {
    chooseFeatures(`-${name}`)
    const missed = rooms
      .flatMap(verbsOf)
      .flatMap((verb) => askedFor(verb).filter((asked) => refusalOfLeftOut(asked) === null))
    expect(missed).toEqual([])
    for (const { name: command } of rooms.flatMap(({ commands = [] }) => commands))
      expect(refusalOfLeftOut(command)).not.toBeNull()
  })

  it('names the migrations that it brings', () => {
    expect(features[name].versions ?? []).toEqual(
      rooms.flatMap(({ migrations = [] }) => migrations.map(({ version }) => version)),
    )
  })
})

it('every part can be left out or says why it stays', () => {
  const staying = (parts as readonly Part[])
    .filter((part) => !optional.some(([, rooms]) => rooms.includes(part)))
    .map(({ name }) => name)
  for (const name of ['holds', 'notices', 'admission', 'groups'])
    expect(() => chooseFeatures(`-${name}`)).toThrow(/which stays/)
  expect(staying).toEqual(
    expect.arrayContaining([
      'holds',
      'notices',
      'admission',
      'accounts',
      'budgets',
      'calendars',
      'guards',
      'measures',
      'settings',
      'groups',
    ]),
  )
  expect(staying).toHaveLength(10)
})

it('the library refuses the verbs of what is left out', async () => {
  chooseFeatures('-routines,-backfill')
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  // The parts are loaded in this process: only what a process without them lacks is asked for.
  const schedules = belfry.schedules as unknown as Record<string, (name: string) => Promise<unknown>>
  await expect(schedules.backfillAll?.('a')).rejects.toMatchObject({
    code: 'not-allowed',
    details: { feature: 'backfill' },
  })
  await expect(Reflect.get(belfry.routines, 'purge')()).rejects.toThrow('left out of this process by -routines')
  expect(schedules.nothing).toBeUndefined()
  await belfry.close()
})

it('HTTP and MCP refuse them too', async () => {
  chooseFeatures('-routines')
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  const fetch = await belfry.handler()
  const { token } = await belfry.tokens.create({ name: 'person', scope: 'admin' })
  // Routes of the part are there in this process; below them there are none.
  const answer = await fetch(
    new Request('http://localhost/api/routines/a/b/c', { headers: { authorization: `Bearer ${token}` } }),
  )
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 403,
    body: { code: 'not-allowed', hint: 'Start this process without -routines in BELFRY_FEATURES.' },
  })
  const offer = { scope: 'admin', tools: new Map(), start: 'belfry mcp' } as unknown as Parameters<typeof absentTool>[1]
  expect(absentTool('routine_purge', offer)).toMatchObject({ code: 'not-allowed', details: { feature: 'routines' } })
  await belfry.close()
})
