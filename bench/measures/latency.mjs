import { openContestant } from '../contestants/all.mjs'
import { percentiles } from '../figures.mjs'
import { awaited, machineMs, pause, pauses } from '../work.mjs'

const warmUps = 5

/** From the call of `enqueue` to the first line of the handler, one job after another, into an idle worker. */
export async function run(bench) {
  const limits = bench.quick ? { count: 100, forMs: 2_500 } : { count: 300, forMs: 10_000 }
  const asked = bench.present.filter(({ latency }) => latency !== undefined)
  const entries = ['in process', 'from another process'].flatMap((way) =>
    asked.map((contestant) => ({ contestant, setting: contestant.latency, input: { way, ...limits }, way })),
  )
  const once = ({ contestant, setting, input }, place) => {
    const given = { contestant, place, setting, ...input }
    return input.way === 'in process' ? bench.child(import.meta.url, given) : fromAnother(bench, given)
  }
  return { ...limits, rows: await bench.alternate(import.meta.url, entries, { once }) }
}

export async function child(input, link) {
  const one = await openContestant({ ...input.contestant, place: input.place, setting: input.setting })
  const doing = { worker, adder, alone }[input.role ?? 'alone']
  const answer = await doing(one, input, link)
  await one.close()
  return answer
}

async function alone(one, { count, forMs, setting }) {
  let job = awaited()
  let beganAt = 0
  const began = () => {
    beganAt = machineMs()
  }
  await one.start({ began, ended: () => job.resolve() })
  const nextPause = pauses(setting.pollMs)
  const took = []
  const until = machineMs() + forMs
  while (took.length < count + warmUps && machineMs() < until) {
    await pause(nextPause())
    job = awaited()
    const from = machineMs()
    await one.addOne()
    await job.promise
    took.push(beganAt - from)
  }
  return figuresOf(took)
}

/** Two processes on one store; the parent passes on when a job has ended, so that the next one comes into idleness. */
async function fromAnother(bench, input) {
  const working = bench.startChild(import.meta.url, { ...input, role: 'worker' })
  const adding = bench.startChild(import.meta.url, { ...input, role: 'adder' })
  try {
    await Promise.all([working.hear(), adding.hear()])
    const took = await askInTurns({ working, adding, ...input })
    for (const one of [adding, working]) one.say('end')
    await Promise.all([adding.result, working.result])
    return figuresOf(took)
  } finally {
    for (const one of [adding, working]) one.end()
    await Promise.all([adding.gone, working.gone])
  }
}

async function askInTurns({ working, adding, setting, count, forMs }) {
  const nextPause = pauses(setting.pollMs)
  const took = []
  const until = machineMs() + forMs
  while (took.length < count + warmUps && machineMs() < until) {
    await pause(nextPause())
    adding.say('add')
    const [{ from }, { beganAt }] = await Promise.all([adding.hear(), working.hear()])
    took.push(beganAt - from)
  }
  return took
}

async function worker(one, _, link) {
  let beganAt = 0
  const began = () => {
    beganAt = machineMs()
  }
  await one.start({ began, ended: () => link.say({ beganAt }) })
  link.say('started')
  await link.hear()
}

async function adder(one, _, link) {
  link.say('opened')
  while ((await link.hear()) === 'add') {
    const from = machineMs()
    await one.addOne()
    link.say({ from })
  }
}

/** The first few are not counted, unless there are only few because each took so long. */
function figuresOf(took) {
  return percentiles(took.length > 10 * warmUps ? took.slice(warmUps) : took)
}
