/** The short form of an answer for a model, by the note of its schema. */
export type Brief = (value: never, isListed: boolean) => unknown

/** The text of a short form. It uses only facts that Belfry itself knows, never text of a user. */
export class Fact {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

export function pick<Value extends object>(value: Value, ...fields: (keyof Value)[]): Partial<Value> {
  return Object.fromEntries(fields.map((field) => [field, value[field]])) as Partial<Value>
}

export function omit<Value extends object>(value: Value, ...fields: (keyof Value)[]): Partial<Value> {
  const left = Object.entries(value).filter(([field]) => !(fields as string[]).includes(field))
  return Object.fromEntries(left) as Partial<Value>
}
