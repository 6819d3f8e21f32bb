import { z } from 'zod'

export const secretForm = z
  .strictObject({ secret: z.string().describe('The name of the secret.') })
  .describe('A secret by its name; it is read when it is needed, and never stored.')

/** Text, or a reference to a secret. */
export const valueForm = z.union([z.string(), secretForm])
