/** `belfry/testing`: what programs that build on Belfry test with. */
export { TestClock } from './testing/clock.ts'
export { conformance } from './testing/conformance/all.ts'
export type { Case, FragileWay, OwnTransaction, Place, Subject } from './testing/conformance/place.ts'
export { Stage } from './testing/conformance/place.ts'
export { type Drained, type DrainOptions, drain } from './testing/drain.ts'
