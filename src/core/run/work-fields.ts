import {
  data,
  duration,
  flag,
  group,
  integer,
  keyLengthMax,
  nameLengthMax,
  real,
  target,
  text,
} from '../field-table.ts'
import type { Expectation } from './expect.ts'

export const priorityDefault = 100
export const priorityMax = 1_000_000
/** The limit of attempts, and of other counts in a queue. */
export const countMax = 1_000_000

/** The fields of the work that schedules and runs share. The kinds of targets fill in the words in braces. */
export const workFields = {
  queue: text('name', nameLengthMax, { says: 'The queue of the run.', default: 'default' }),
  priority: integer(-priorityMax, priorityMax, { says: 'Lower goes first.', default: priorityDefault }),
  concurrencyKey: text('key', keyLengthMax, {
    says: 'Runs with the same key share the ceiling for a key of their queue.',
  }),
  payload: data<unknown, 'payload'>('payload', {
    says: 'The input of the target: any JSON of at most 256 KB.',
  }),
  target: target({
    says: 'What a run does: exactly one of {kinds}. Without one it is for outside hosts.',
  }),
  repeatable: flag({
    says: 'Whether a run is tried again when its worker was lost and its effect is not known.',
    default: true,
  }),
}

export const backoffFields = {
  base: duration({ min: 0, says: 'The wait before the second attempt.', defaultSays: 'the backoffBase of the queue' }),
  factor: real(1, 1_000, {
    says: 'Each wait is this many times the one before.',
    defaultSays: 'the backoffFactor of the queue',
  }),
  cap: duration({
    min: 0,
    says: 'The longest wait between attempts.',
    defaultSays: 'the backoffCap of the queue, at least base',
  }),
}

/** The fields of the execution that schedules and runs share, stored among the options of both. */
export const executionFields = {
  timeout: duration({
    says: 'How long an attempt may take.',
    defaultSays: '{timeouts}',
  }),
  expect: data<Expectation, 'expectation'>('expectation', {
    says: 'What the target must answer to count as done; every given rule must hold.',
  }),
  attempts: integer(1, countMax, {
    says: 'How often a run is tried, the first attempt included.',
    defaultSays: 'the maxAttempts of its queue',
  }),
  backoff: group(backoffFields, {
    says: 'How long a run waits between its attempts.',
    defaultSays: 'the backoff of its queue',
    example: '{"base":"5s","factor":2,"cap":"10m"}',
    hasFlags: true,
  }),
  tags: data<readonly string[], 'tags'>('tags', { says: 'Tags to find it by, each given once.' }),
}
