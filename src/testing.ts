/** `belfry/testing`: tools for testing programs that use Belfry. */

export { type Drained, type DrainOptions, drain } from './testing/drain.ts'
export { TestClock } from './testing/test-clock.ts'
