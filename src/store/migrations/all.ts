import { ground } from './0001-ground.ts'
import { timedAt } from './0002-timed-at.ts'
import type { Migration } from './migration.ts'

export const migrations: readonly Migration[] = [ground, timedAt]

export const schemaVersion: number = migrations.length
