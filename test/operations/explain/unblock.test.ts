import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { byHand, byItself, commandLine } from '../../../src/operations/explain/unblock.ts'
import { commandOf } from '../../../src/operations/operation.ts'
import { operations } from '../../../src/operations/table.ts'

it('a name that a shell would take apart, or obey, is quoted whole', () => {
  expect(commandLine(['schedule', 'resume', 'nightly'])).toBe('belfry schedule resume nightly')
  expect(commandLine(['schedule', 'resume', 'night report'])).toBe(`belfry schedule resume 'night report'`)
  expect(commandLine(['queue', 'resume', `it's; rm $HOME`])).toBe(`belfry queue resume 'it'\\''s; rm $HOME'`)
  expect(commandLine(['schedule', 'resume', ''])).toBe(`belfry schedule resume ''`)
})

it('what somebody does has a command and no instant, what comes by itself the other way round', () => {
  expect(byHand('Start a worker.', 'up')).toEqual({ what: 'Start a worker.', command: 'belfry up', at: null })
  expect(byHand('Mend it.')).toEqual({ what: 'Mend it.', command: null, at: null })
  expect(byItself('It ends.', 7)).toEqual({ what: 'It ends.', command: null, at: 7 })
})

it('every command that an explanation can give is one that the command line knows', () => {
  const folder = fileURLToPath(new URL('../../../src/operations', import.meta.url))
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const text = sources.map((path) => readFileSync(join(folder, path), 'utf8')).join('\n')
  const given = [...text.matchAll(/byHand\([^,()]+, '([a-z]+)', '([a-z]+)'/g)].map(
    ([, noun, verb]) => `${noun} ${verb}`,
  )
  const known = operations.map((operation) => commandOf(operation).join(' '))
  expect(new Set(given).size).toBeGreaterThan(5)
  for (const command of given) expect(known).toContain(command)
})
