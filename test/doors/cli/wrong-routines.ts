import type { WrongInputs } from './wrong-inputs-table.ts'

/** Routines and their events, typed wrong. */
export const wrongRoutines: WrongInputs = {
  about: 'Routines',
  cases: [
    [2, 'a routine that does nothing', 'belfry routine create x'],
    [2, 'a routine that does two things', "belfry routine create x --schedule nightly --run '{}'"],
    [3, 'a routine of a schedule that nobody has', 'belfry routine create x --schedule nihgtly'],
    [2, 'a match that is a list', "belfry routine create x --schedule nightly --match '[1]'"],
    [2, 'a match that is empty', "belfry routine create x --schedule nightly --match '{}'"],
    [2, 'a path of another notation', `belfry routine create x --schedule nightly --match '{"$.ref":1}'`],
    [2, 'an operator of another tool', `belfry routine create x --schedule nightly --match '{"ref":{"$eq":1}}'`],
    [
      2,
      'two operators at once',
      `belfry routine create x --schedule nightly --match '{"ref":{"in":[1],"exists":true}}'`,
    ],
    [
      2,
      'a pattern that looks around',
      `belfry routine create x --schedule nightly --match '{"ref":{"matches":"(?=a)"}}'`,
    ],
    [2, 'a run with two mistakes', `belfry routine create x --run '{"prority":1,"target":{"handler":5}}'`],
    [2, 'a run with an instant of its own', `belfry routine create x --run '{"notBefore":"2099-01-01T00:00Z"}'`],
    [
      2,
      'a secret in the place of its name',
      `belfry routine create x --schedule nightly --signing '{"style":"github","secret":"secret@"}'`,
    ],
    [
      2,
      'a name that no secret can have',
      `belfry routine create x --schedule nightly --signing '{"style":"github","secret":{"secret":"secret@"}}'`,
    ],
    [
      2,
      'a style that nobody signs in',
      `belfry routine create x --schedule nightly --signing '{"style":"stripe","secret":{"secret":"A"}}'`,
    ],
    [2, 'an event that is no JSON', 'belfry routine fire x --payload {ref'],
    [3, 'an event for a routine that nobody has', "belfry routine fire x --payload '{}'"],
    [3, 'events of a routine that nobody has', 'belfry routine events x'],
    [2, 'a page of events that is none', 'belfry routine events x --before r-11'],
    [2, 'a deletion that nobody confirms', 'belfry routine delete x'],
    [2, 'a word of other tools for an event', 'belfry routine trigger x'],
  ],
}
