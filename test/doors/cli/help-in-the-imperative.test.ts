import { expect, it } from 'vitest'
import { localCommands } from '../../../src/doors/cli/commands/local-commands.ts'
import type { AnyOperation } from '../../../src/operations/operation.ts'
import { nouns } from '../../../src/table.ts'

it('a help text says in the imperative what a command or a flag does, never in the third person', () => {
  const operations = Object.values(nouns).flatMap((noun) => Object.values<AnyOperation>(noun.operations))
  const local = localCommands.flatMap(({ says, options }) => [says, ...options.map((option) => option.says)])
  const texts = [...operations.map(({ says }) => says), ...local]
  expect(texts.length).toBeGreaterThan(80)
  expect(
    texts.filter((text) =>
      /^(Says|Shows|Sends|Names|Lets|Keeps|Listens|Tells|Makes|Takes|[A-Z][a-z]+(sh|ch)es) /.test(text),
    ),
  ).toEqual([])
})
