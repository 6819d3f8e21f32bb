/** `belfry/testing`: what programs that build on Belfry test with. */
export { TestClock } from './testing/clock.ts'
export { type Drained, type DrainOptions, drain } from './testing/drain.ts'
