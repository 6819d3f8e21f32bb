import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { byHand, byItself } from '../../../src/operations/explain/unblock.ts'
import { commandOf } from '../../../src/operations/operation.ts'
import { operations } from '../../../src/table.ts'

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
