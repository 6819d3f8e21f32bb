import { nouns } from '../../src/table.ts'
import { areAlike } from './parity.ts'

/** These have a file each, so that they run at the same time as the rest. */
const elsewhere = ['schedule', 'run', 'queue', 'inbox']

areAlike(...Object.keys(nouns).filter((noun) => !elsewhere.includes(noun)))
