import { expect, it } from 'vitest'
import { all, big, flag, json, named, nullable, Table, text } from '../../src/store/table-codec.ts'

const sample = new Table('sample', {
  ...all(big, 'id', 'madeAt'),
  name: text,
  isOpen: flag,
  key: named('own_key', nullable(text)),
  spec: nullable(json<{ a: number }>()),
})
const content = { id: 1, madeAt: 2, name: 'x', isOpen: true, key: null, spec: { a: 3 } }
const stored = { id: 1, made_at: 2, name: 'x', is_open: 1, own_key: null, spec: '{"a":3}' }

it('what a table writes is read back, each value from the column it was written to', () => {
  const names = sample.columns().split(', ')
  const written = Object.fromEntries(sample.tuple(content).map((value, index) => [names[index], value]))
  expect(written).toEqual(stored)
  expect(sample.read(stored)).toEqual(content)
})

it('its statements name columns, parameters and types in one order', () => {
  expect(sample.only('id', 'name', 'isOpen').insert('returning id')).toEqual({
    sqlite: 'insert into belfry.sample (id, name, is_open) values ($1, $2, $3) returning id',
    postgres:
      'insert into belfry.sample (id, name, is_open) select * from unnest($1::bigint[], $2::text[], $3::smallint[]) returning id',
  })
  const { sqlite, postgres } = sample.but('madeAt', 'spec', 'isOpen').update()
  expect(sqlite).toBe('update belfry.sample set (name, own_key) = ($2, $3) where id = $1')
  expect(postgres).toMatch(
    /set \(name, own_key\) = \(i\.name, i\.own_key\)\s+from unnest\(.*\) as i \(id, name, own_key\)/,
  )
  // PostgreSQL refuses a list of one.
  expect(sample.only('id', 'name').update().postgres).toMatch(/set name = i\.name\s/)
})

it('a value that somebody has damaged is refused with the names of its column and its row', () => {
  expect(() => sample.read({ ...stored, spec: '{' })).toThrow('The stored spec of sample x cannot be read.')
})
