import type { AddedField } from '../../operations/fields/added-fields.ts'
import { newName } from '../../operations/fields/basic-fields.ts'
import { noted } from '../../operations/schema/schema-note.ts'

declare module '../../core/added.ts' {
  interface AddedToSchedule {
    readonly group: AddedType<string>
  }
}

/** A colon ends the name in the note of a hold, and belfry: begins the names of what is Belfry's own. */
export const groupName = noted(
  newName.refine((text) => !text.includes(':')),
  { expected: 'a text of 1 to 200 characters without colons that does not begin with a dash' },
).describe('The name of the group.')

export const groupField: AddedField = {
  ofPersons: 'changes',
  input: groupName.describe('The group that it belongs to. Default: none.'),
  inWords: (stored: string) => stored,
  clause: 'in group',
}
