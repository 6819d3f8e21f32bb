import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withEntry, withoutEntry } from '../../src/core/json/json-edit.ts'

const settings =
  '{\n    "model": "opus",\n    "hooks": {\n        "Stop": [\n            { "a": 1 }\n        ]\n    }\n}\n'

describe('an edit of a JSON text', () => {
  it('adds an entry in the manner of its neighbours, makes what is missing, and keeps all else byte for byte', () => {
    const added = '{ "a": 1 },\n            {\n                "b": 2\n            }'
    expect(withEntry(settings, ['hooks', 'Stop', '-'], { b: 2 })).toBe(settings.replace('{ "a": 1 }', added))
    expect(withEntry('{"a":1}', ['b', 'c', '-'], 2)).toBe('{"a":1, "b": {"c":[2]}}')
    expect(withEntry('{}', ['b', '-'], 'x')).toBe('{\n  "b": [\n    "x"\n  ]\n}')
    expect(withEntry('{\r\n\t"a": 1\r\n}\r\n', ['b'], { c: 2 })).toBe(
      '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n',
    )
  })

  it('removes an entry, and what is empty then', () => {
    expect(withoutEntry(settings, ['hooks', 'Stop', 0])).toBe('{\n    "model": "opus"\n}\n')
    expect(withoutEntry('{"tasks":[ {"id":"a"} ]}', ['tasks', 0], 1)).toBe('{"tasks":[]}')
    expect(withoutEntry('[1, 2, 3]', [1])).toBe('[1, 3]')
    expect(withoutEntry('[1, 2, 3]', [0])).toBe('[2, 3]')
  })

  it('is undone to the byte by its opposite, whatever the text has in it', () => {
    const text = fc
      .tuple(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.constantFrom(undefined, 1, 2, '\t'))
      .map(([value, indent]) => JSON.stringify(value, null, indent))
    fc.assert(
      fc.property(text, fc.jsonValue(), (before, value) => {
        fc.pre(!Object.hasOwn(JSON.parse(before), 'belfry'))
        const after = withEntry(before, ['belfry', 'x'], value)
        const parsed = JSON.parse(after)
        expect(JSON.stringify(parsed.belfry.x)).toBe(JSON.stringify(value))
        expect(withoutEntry(after, ['belfry', 'x'])).toBe(before)
      }),
      { numRuns: 300 },
    )
  })
})
