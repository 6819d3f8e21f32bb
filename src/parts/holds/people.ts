import { type Doors, everyDoor } from '../../operations/operation.ts'

/** A model must neither keep work from starting nor lift what a person holds. */
const people: Doors = {
  ...everyDoor,
  mcp: 'Only a person stops work or lets it go on; a model reads the holds, and asks.',
}

export const changing = { noun: 'hold', effect: 'write', scope: 'operate', doors: people, persons: true } as const
