/** A map that drops its oldest entry when it is full. Keys come from users, so an unbounded memo would leak memory. */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly entriesMax: number

  constructor(entriesMax: number) {
    super()
    this.entriesMax = entriesMax
  }

  override set(key: string, value: Value): this {
    if (this.size >= this.entriesMax && !this.has(key)) {
      for (const oldest of this.keys()) {
        this.delete(oldest)
        break
      }
    }
    return super.set(key, value)
  }
}
