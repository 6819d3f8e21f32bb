export interface PruneRequest {
  /** About how many rows one step removes. */
  readonly limit: number
  /** The `next` of the step before; absent: begin a new round. */
  readonly from?: string
}

export interface Pruned {
  readonly runs: number
  readonly ledger: number
  readonly other: number
  /** Where this round continues; `null` when it is over. */
  readonly next: string | null
}
