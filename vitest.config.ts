import { defineConfig } from 'vitest/config'
import { LongFirst } from './test/long-first.ts'
import { scratchFolder } from './test/scratch.ts'

const patience = { testTimeout: 120_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } }
const scratch = { env: { TMPDIR: scratchFolder() } }
// Many files wait for processes and leases, and the simulation makes way for all others, so two cores have room for more than two.
const workers = { maxWorkers: 5 }

/** Files that put something else in the place of a module, or change the process they run in: nobody beside them may meet that. */
const apart = [
  'test/core/clock.test.ts',
  'test/doors/cli/create-cost.test.ts',
  'test/doors/cli/wrong-inputs.test.ts',
  'test/operations/worker.test.ts',
  'test/parts/sample-kind.test.ts',
  'test/parts/sample.test.ts',
  'test/store/cancel.test.ts',
  'test/store/open.test.ts',
  'test/store/postgres/plans.test.ts',
  'test/store/sqlite/boot.test.ts',
]
/** Files that keep nothing in their modules: they share them, and a minute of loading is spared. */
const shared = [
  'core',
  'operations',
  'store',
  'doors',
  'engine',
  'client',
  'choices',
  'library',
  'targets',
  'testing',
  'parts',
]
const sharing = shared.map((part) => `test/${part}/**/*.test.ts`)
/** They do nothing but compute, at the lowest priority, in processes of their own: they take what the others leave. */
const simulation = ['test/sim/*-half.test.ts']
/** The cases of the conformance suite start many processes and measure them, so they come last, on the disk, and have the machine to themselves. */
const last = ['test/conformance/**/*.test.ts']

export default defineConfig({
  test: {
    // Named here and nowhere below: once for all projects, or each would start a server of its own.
    globalSetup: ['test/global-setup.ts'],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          ...patience,
          ...workers,
          name: 'simulation',
          include: simulation,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patience,
          ...scratch,
          name: 'apart',
          include: apart,
          ...workers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patience,
          ...workers,
          ...scratch,
          name: 'sentences',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...last, ...simulation, ...sharing],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patience,
          ...workers,
          ...scratch,
          name: 'units',
          include: sharing,
          exclude: apart,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patience,
          name: 'last',
          include: last,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
