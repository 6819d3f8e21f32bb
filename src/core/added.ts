/**
 * The types of the fields that parts add to schedules, queue policies and runs. A part declares its own, so that the compiler
 * knows them in the library and in stored data:
 *
 * `declare module '../../core/added.ts' { interface AddedToSchedule { readonly label: AddedType<string> } }`
 */
// biome-ignore lint/suspicious/noEmptyInterface: parts merge their fields into it.
export interface AddedToSchedule {}
// biome-ignore lint/suspicious/noEmptyInterface: parts merge their fields into it.
export interface AddedToQueue {}
// biome-ignore lint/suspicious/noEmptyInterface: parts merge their fields into it.
export interface AddedToRun {}
// biome-ignore lint/suspicious/noEmptyInterface: parts merge their fields into it.
export interface AddedToAttempt {}
/** Fields of schedules that are also shown on their runs, although no caller can give them for a run. */
// biome-ignore lint/suspicious/noEmptyInterface: parts merge their fields into it.
export interface CopiedToRun {}
// biome-ignore lint/suspicious/noEmptyInterface: parts merge their sections into it.
export interface AddedToConfig {}

/** The type of a field as it is stored and returned, and as it is given. */
export interface AddedType<Stored, Given = Stored> {
  readonly stored: Stored
  readonly given: Given
}

/** The fields as they are stored. */
export type StoredFields<Added> = {
  readonly [Field in keyof Added]?: Added[Field] extends { readonly stored: infer Stored } ? Stored : never
}
