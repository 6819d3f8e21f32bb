/** What every verb knows of the store it serves. */
export interface StoreContext {
  readonly ns: number
  readonly namespace: string
  /** The ceiling that the queue `default` is created with. */
  readonly defaultMaxConcurrent: number
}
