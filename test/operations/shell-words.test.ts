import { expect, it } from 'vitest'
import { belfryCommand, shellWord } from '../../src/operations/shell-words.ts'

it('a name that a shell would take apart, or obey, is quoted whole', () => {
  expect(belfryCommand('schedule', 'resume', 'nightly')).toBe('belfry schedule resume nightly')
  expect(belfryCommand('schedule', 'resume', 'night report')).toBe(`belfry schedule resume 'night report'`)
  expect(belfryCommand('queue', 'resume', `it's; rm $HOME`)).toBe(`belfry queue resume 'it'\\''s; rm $HOME'`)
  expect(belfryCommand('schedule', 'resume', '')).toBe(`belfry schedule resume ''`)
  expect(['a\nb', '~', '*', '!', '`id`', '"'].map(shellWord)).toEqual(["'a\nb'", "'~'", "'*'", "'!'", "'`id`'", `'"'`])
})
