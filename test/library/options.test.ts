import { isAbsolute, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openingOf } from '../../src/library/options.ts'
import { problemsIn } from '../operations/desk.ts'

describe('what nobody said when Belfry was opened', () => {
  it('is a SQLite file and a folder of secrets under the working directory, and the ceiling of the design', () => {
    expect(openingOf({}, {})).toEqual({
      store: 'sqlite:./.belfry/belfry.db',
      found: join(process.cwd(), '.belfry', 'belfry.db'),
      secretsFolder: join(process.cwd(), '.belfry', 'secrets'),
      zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      defaultMaxConcurrent: 5,
      halt: { disabled: undefined, stopFile: join(process.cwd(), '.belfry', 'STOP') },
    })
  })

  it('knows what stops its workers: the environment, a file beside the store, and no other text', async () => {
    expect(openingOf({}, { BELFRY_DISABLED: '1' }).halt.disabled).toBe('BELFRY_DISABLED=1')
    for (const off of ['', '0']) expect(openingOf({}, { BELFRY_DISABLED: off }).halt.disabled).toBeUndefined()
    expect(await problemsIn(() => openingOf({}, { BELFRY_DISABLED: 'no' }))).toMatchObject([
      { field: 'BELFRY_DISABLED', expected: '1, or nothing' },
    ])
    expect(openingOf({}, { BELFRY_STOP_FILE: '/run/stop' }).halt.stopFile).toBe('/run/stop')
    const elsewhere = openingOf({ store: 'sqlite:/srv/app/.belfry/belfry.db' }, {})
    expect(elsewhere.halt.stopFile).toBe('/srv/app/.belfry/STOP')
  })

  it('is what the environment says, where it says so', () => {
    const opening = openingOf({ secretsFolder: 'keys' }, { BELFRY_ZONE: 'Asia/Tokyo', BELFRY_MAX_CONCURRENT: '12' })
    expect(opening).toMatchObject({ zone: 'Asia/Tokyo', defaultMaxConcurrent: 12 })
    expect(isAbsolute(opening.secretsFolder)).toBe(true)
    expect(openingOf({}, { BELFRY_ZONE: '', BELFRY_MAX_CONCURRENT: '' })).toMatchObject({ defaultMaxConcurrent: 5 })
  })

  it.each([
    ['BELFRY_ZONE', 'Asia/Tokio'],
    ['BELFRY_MAX_CONCURRENT', '0'],
    ['BELFRY_MAX_CONCURRENT', '1e3'],
    ['BELFRY_MAX_CONCURRENT', 'many'],
  ])('is refused where %s says %s', async (name, value) => {
    expect((await problemsIn(() => openingOf({}, { [name]: value })))[0]?.field).toBe(name)
  })
})
