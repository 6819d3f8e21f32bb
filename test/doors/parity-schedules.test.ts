import { areAlike } from './parity.ts'

areAlike('schedule')
