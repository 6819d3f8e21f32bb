// A scripted agent: one JSON document on stdin, one answer on stdout. An agent of yours would ask a model here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { unfence } from 'belfry/core'

const { item, phase, folder, brief, steer, scope, state, children } = JSON.parse(await text(process.stdin))

/** The files of an item are named from the root, which lies above its folder. */
const root = item === '.' ? folder : folder.slice(0, -item.length)
const read = (file) => readFileSync(join(root, file), 'utf8').trim()

const answers = {
  architect: () => `Summarise ${scope.files.join(', ')}.${steer ? ` ${steer}` : ''}`,
  builder: () => {
    const builds = (state === undefined ? 0 : JSON.parse(unfence(state)).builds) + 1
    const parts = [...scope.files.map(read), ...Object.values(children).map(unfence)]
    return JSON.stringify({ _content: `${unfence(brief)} Build ${builds}.\n${parts.join('\n')}`, _state: { builds } })
  },
  critic: () => 'It says what its files say.',
}
process.stdout.write(answers[phase]())
