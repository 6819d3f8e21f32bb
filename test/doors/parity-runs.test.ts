import { areAlike } from './parity.ts'

areAlike('run', 'queue')
