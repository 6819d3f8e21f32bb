import type { Cron } from '../../../src/core/cron/cron.ts'

export interface Window {
  zone: string
  fromMs: number
  untilMs: number
  stepMs: number
  instants: number[]
  walls: number[]
}

export interface Disagreement {
  direction: string
  extra: unknown[]
  lacking: unknown[]
}

export function wallClock(zone: string): (instantMs: number) => number
export function transitions(zone: string, fromMs: number, untilMs: number): number[]
export function readWindow(zone: string, fromMs: number, untilMs: number, stepMs: number): Window
export function judge(expression: string, window: Window): number[]
export function matcher(expression: string): { isFixed: boolean; matches: (wallMs: number) => boolean }
export function expressionsNear(zone: string, transitionMs: number, count: number): string[]
export function randomFrom(seed: number): () => number
export function disagreements(
  calendar: Pick<Cron, 'next' | 'previous'>,
  expected: readonly number[],
  window: Pick<Window, 'fromMs' | 'untilMs'>,
): Disagreement[]
