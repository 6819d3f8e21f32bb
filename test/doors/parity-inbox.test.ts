import { areAlike } from './parity.ts'

// On an empty desk the ids of new messages are compared, so that no verb that only some doors have comes before.
areAlike('inbox')
