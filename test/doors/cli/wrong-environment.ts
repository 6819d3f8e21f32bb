import type { WrongInputs } from './wrong-inputs-table.ts'

/** Variables of the environment, set wrong. */
export const environment: WrongInputs = {
  about: 'The environment',
  cases: [
    [2, 'a zone with a typing mistake', 'BELFRY_ZONE=Europe/Pariz belfry schedule list'],
    [2, 'a ceiling in letters', 'BELFRY_MAX_CONCURRENT=many belfry schedule list'],
    [2, 'a ceiling of nothing', 'BELFRY_MAX_CONCURRENT=0 belfry schedule list'],
    [2, 'a store that is none', 'BELFRY_STORE=./belfry.db belfry schedule list'],
    [3, 'a store that is not there', 'BELFRY_STORE=sqlite:nowhere/belfry.db belfry schedule list'],
  ],
}
