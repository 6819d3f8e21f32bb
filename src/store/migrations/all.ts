import { ground } from './0001-ground.ts'
import type { Migration } from './migration.ts'

export const migrations: readonly Migration[] = [ground]

export const schemaVersion: number = migrations.length
