import { expect, it } from 'vitest'
import * as core from '../src/core.ts'

it('the public core offers every function that the design names', () => {
  const named = [
    'nextRun',
    'planLeases',
    'verdict',
    'backoffMs',
    'spread',
    'missed',
    'rankItems',
    'selectPhase',
    'transition',
    'cron',
    'parseDuration',
    'formatDuration',
    'fence',
  ]
  expect(named.filter((name) => typeof Reflect.get(core, name) !== 'function')).toEqual([])
})
