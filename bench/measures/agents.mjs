import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TranscriptReader } from '../../dist/core/agent/transcript.js'
import { Belfry } from '../../dist/index.js'
import { medianOf, percentile } from '../figures.mjs'

const line = (value) => `${JSON.stringify(value)}\n`
const final = line({
  type: 'result',
  subtype: 'success',
  result: 'Done.',
  usage: { input_tokens: 5, output_tokens: 3 },
})
const begun = line({ type: 'system', subtype: 'init', session_id: 's', model: 'm' })
const read = {
  session: { when: { type: 'system' }, at: 'session_id' },
  model: { when: { type: 'system' }, at: 'model' },
  say: { when: { type: 'assistant' }, at: 'message.content[*].text' },
  tools: { when: { type: 'assistant' }, at: 'message.content[*].name' },
  final: { when: { type: 'result' }, at: 'result' },
  tokensIn: { when: { type: 'result' }, at: 'usage.input_tokens' },
  tokensOut: { when: { type: 'result' }, at: 'usage.output_tokens' },
}

/** How fast a transcript is read; and an attempt of an agent beside one of a command that runs the same program, by turns on one store. */
export async function run(bench) {
  const attempts = bench.quick ? 40 : 200
  const megabytes = bench.quick ? 50 : 200
  const rows = []
  for (const database of ['sqlite', 'postgres']) {
    const rounds = []
    for (let round = 0; round < bench.rounds; round++) {
      bench.say(`round ${round + 1} of ${bench.rounds}: ${attempts} attempts of each on ${database}`)
      rounds.push(
        await bench.within(database, undefined, (place) =>
          bench.child(import.meta.url, { place, attempts, megabytes }, { timeoutMs: 600_000 }),
        ),
      )
    }
    rows.push({ database, ...medianOf(rounds), rounds })
  }
  return { attempts, megabytes, rows }
}

export async function child({ place, attempts, megabytes }) {
  const readMegabytes = readingSpeed(megabytes)
  const folder = await mkdtemp(join(tmpdir(), 'belfry-bench-agents-'))
  const transcript = join(folder, 'transcript')
  writeFileSync(transcript, begun + final)
  const argv = ['/bin/sh', '-c', `cat >/dev/null; exec cat ${transcript}`]
  const belfry = await Belfry.open({ store: place.store, log: false })
  await belfry.config.apply({ source: 'bench', agents: { bench: { argv, stream: 'jsonl', read } } })
  await belfry.start()
  const targets = {
    commandMs: { target: { command: argv }, payload: 'Do it.' },
    agentMs: { target: { agent: { profile: 'bench', prompt: 'Do it.' } } },
  }
  const took = { commandMs: [], agentMs: [] }
  for (let count = 0; count < attempts; count++) {
    for (const [name, input] of Object.entries(targets)) {
      const from = performance.now()
      const { id } = await belfry.runs.enqueue(input)
      const { end } = await belfry.runs.wait(id)
      took[name].push(performance.now() - from)
      if (end?.status !== 'completed') throw new Error(`${name}: ${JSON.stringify(end)}`)
    }
  }
  await belfry.stop()
  await belfry.close()
  await rm(folder, { recursive: true })
  const [commandMs, agentMs] = [percentile(took.commandMs, 0.5), percentile(took.agentMs, 0.5)]
  return { readMegabytes, commandMs, agentMs, ratio: agentMs / commandMs }
}

/** In MB a second: tool results, which mean nothing, and now and then a word of the agent, in pieces as pipes give them. */
function readingSpeed(megabytes) {
  const noise = line({ type: 'user', message: { content: [{ type: 'tool_result', content: 'x'.repeat(6_000) }] } })
  const word = line({ type: 'assistant', message: { content: [{ type: 'text', text: 'I read on.' }] } })
  const piece = (noise.repeat(9) + word).slice(0, -1).concat('\n')
  const reader = new TranscriptReader({ stream: 'jsonl', read })
  reader.add(begun)
  const pieces = Math.ceil((megabytes * 1e6) / piece.length)
  const from = performance.now()
  for (let count = 0; count < pieces; count++) {
    for (let at = 0; at < piece.length; at += 65_536) reader.add(piece.slice(at, at + 65_536))
  }
  reader.add(final)
  reader.end(true)
  if (reader.facts.text !== 'Done.') throw new Error('The transcript was read wrongly.')
  return (pieces * piece.length) / 1e3 / (performance.now() - from)
}
