/** A payload, and what is as large as one: refused above. */
export const payloadBytesMax = 256 * 1024
