import type { EngineEvents, RunEnded } from '../../../engine/events.ts'
import type { Heard } from '../world.ts'

const namesMax = 5

/** Reports what happened to the runs that were at work when a worker stopped. */
export class Stopped {
  #isStopping = false
  #forced = 0
  readonly #givenBack: string[] = []
  readonly #parked: string[] = []

  hear({ name, event }: Pick<Heard, 'name' | 'event'>): void {
    if (name === 'worker.stopping') this.#isStopping = true
    if (name === 'worker.stopped') this.#forced = (event as EngineEvents['worker.stopped']).forced
    if (!this.#isStopping) return
    const { runId, reason } = event as Partial<RunEnded>
    if (runId === undefined) return
    if (name === 'run.retrying' && reason === 'forced-stop') this.#givenBack.push(runId)
    if (name === 'run.parked' && reason === 'effect-unknown') this.#parked.push(runId)
  }

  get text(): string {
    const [given, parked] = [this.#givenBack, this.#parked]
    // Their end was printed on its own line, or could not be written.
    const others = Math.max(0, this.#forced - given.length - parked.length)
    const told = [
      ...(given.length === 0 ? [] : [`${countOf(given.length)} released unfinished (${namesOf(given)})`]),
      ...(parked.length === 0
        ? []
        : [`${countOf(parked.length)} parked, because it is unknown whether their work was done (${namesOf(parked)})`]),
      ...(others === 0 ? [] : [`${countOf(others)} asked to stop`]),
    ]
    return told.length === 0 ? 'Stopped.' : `Stopped; ${told.join('; ')}.`
  }
}

function countOf(count: number): string {
  return count === 1 ? '1 run was' : `${count} runs were`
}

function namesOf(runs: readonly string[]): string {
  return `${runs.slice(0, namesMax).join(', ')}${runs.length > namesMax ? ', …' : ''}`
}
