import type { WrongInputs } from './wrong-inputs-table.ts'

/** Holds, typed wrong. */
export const wrongHolds: WrongInputs = {
  about: 'Holds',
  cases: [
    [2, 'a hold on nothing', 'belfry hold put --reason why'],
    [2, 'a hold without a reason', 'belfry hold put --on namespace'],
    [2, 'a scope that does not exist', 'belfry hold put --on tag:nightly --reason why'],
    [2, 'a scope of a later version', 'belfry hold put --on account:claude --reason why'],
    [2, 'a namespace by its name', 'belfry hold put --on namespace:default --reason why'],
    [2, 'a queue without a name', 'belfry hold put --on queue: --reason why'],
    [3, 'a queue that is misspelt', 'belfry hold put --on queue:defualt --reason why'],
    [3, 'a schedule that is misspelt', 'belfry hold put --on schedule:nihgtly --reason why'],
    [2, 'a kind that is misspelt', 'belfry hold put --on kind:handlers --reason why'],
    [2, 'a kind with half of a name', 'belfry hold put --on kind:handler/ --reason why'],
    [2, 'an end beside a length', 'belfry hold put --on namespace --reason why --for 1h --until 2099-01-01T00:00Z'],
    [2, 'an end that is over', 'belfry hold put --on namespace --reason why --until 2020-01-01T00:00Z'],
    [
      2,
      'an end before the beginning',
      'belfry hold put --on namespace --reason why --from 2099-01-02T00:00Z --until 2099-01-01T00:00Z',
    ],
    [2, 'a beginning that is over', 'belfry hold put --on namespace --reason why --from 2020-01-01T00:00Z'],
    [2, 'a hold of no length', 'belfry hold put --on namespace --reason why --for 0s'],
    [
      2,
      'a hold of which nothing is right',
      'belfry hold put --on kind:handlers --from 2020-01-01T00:00Z --until 2020-01-02T00:00Z --for 5',
    ],
    [2, 'a length without a unit', 'belfry hold put --on namespace --reason why --for 5'],
    [2, 'a hold by what it is on', 'belfry hold lift queue:default'],
    [3, 'a hold that does not exist', 'belfry hold lift h-11'],
    [4, 'a start when nothing is stopped', 'belfry go'],
    [2, 'a stop of one queue', 'belfry stop default'],
    [2, 'a word of other tools for a hold', 'belfry hold create --on namespace'],
  ],
}
