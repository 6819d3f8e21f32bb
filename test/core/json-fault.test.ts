import { describe, expect, it } from 'vitest'
import { jsonFault } from '../../src/core/json/json-fault.ts'

describe('what is not JSON', () => {
  it.each([
    ['', 1, 1, 'a value'],
    ['today', 1, 1, 'a value'],
    ["{'a':1}", 1, 2, 'a name in double quotes'],
    ['{"a":1,}', 1, 8, 'a name in double quotes'],
    ['{"a" 1}', 1, 6, 'a colon'],
    ['{"a":1 "b":2}', 1, 8, 'a comma or }'],
    ['[1,\n 2\n 3]', 3, 2, 'a comma or ]'],
    ['[1,]', 1, 4, 'a value'],
    ['[1', 1, 3, 'a comma or ]'],
    ['"a', 1, 1, 'a text that ends with a double quote'],
    ['"a\\x"', 1, 1, 'a text that ends with a double quote'],
    ['"\n"', 1, 1, 'a text that ends with a double quote'],
    ['01', 1, 2, 'nothing more'],
    ['1.', 1, 2, 'nothing more'],
    ['NaN', 1, 1, 'a value'],
    ['{} {}', 1, 4, 'nothing more'],
  ])('%j is told at line %i, character %i, with what belongs there', (text, line, column, belongs) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(jsonFault(text)).toMatchObject({ line, column, belongs })
  })

  it.each(['{}', ' [ ] ', '{"a":[1,-2.5e3,true,false,null,"\\u00e9\\n"],"":{"b":{}}}', '\t"x"\r\n', '0'])(
    '%j is not told to be wrong, as it is JSON',
    (text) => {
      expect(() => JSON.parse(text)).not.toThrow()
      expect(jsonFault(text)).toBeNull()
    },
  )

  it('of many levels is not told by breaking down', () => {
    const deep = '['.repeat(100_000)
    expect(jsonFault(deep)).toBeNull()
  })
})
