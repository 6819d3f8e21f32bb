import { doctor } from './doctor.ts'

export const storeOperations = {
  doctor,
}
