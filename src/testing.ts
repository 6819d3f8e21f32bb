/** `belfry/testing`: what programs that build on Belfry test with. */

export { type Drained, type DrainOptions, drain } from './testing/drain.ts'
export { TestClock } from './testing/test-clock.ts'
