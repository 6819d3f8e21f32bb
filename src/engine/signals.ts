/**
 * Points inside the engine that tests and the simulator wait for or act at. In production there is no listener, and a signal
 * costs a call of an empty function.
 */
export type SignalName =
  | 'fire.ticked'
  | 'lease.ticked'
  | 'settle.written'
  | 'renew.ticked'
  | 'reclaim.ticked'
  | 'duties.ticked'
  | 'run.executing'
  | 'run.ended'

export type Signal = (name: SignalName, detail?: unknown) => void

export const noSignal: Signal = () => undefined
