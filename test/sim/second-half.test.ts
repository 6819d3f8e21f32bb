import { it } from 'vitest'
import { expectAllHold, half, patienceMs } from './seeds.ts'

const { from, count } = half(1)
const title = `no history of the seeds from ${from} to ${from + count - 1} breaks an invariant, and every fault happens in them`

it(title, () => expectAllHold({ from, count }), patienceMs)
