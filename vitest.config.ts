import { defineConfig } from 'vitest/config'

const patience = { testTimeout: 120_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    // Named here and nowhere below: once for all projects, or each would start a server of its own.
    globalSetup: ['test/global-setup.ts'],
    projects: [
      {
        test: {
          ...patience,
          name: 'sentences',
          include: ['test/**/*.test.ts'],
          exclude: ['test/conformance/**'],
          // Many files wait for processes and leases, so two cores have room for a third.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...patience,
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          // Its cases start many processes and measure them, so they come last and have the machine to themselves.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
