/** The limit of a payload and of similar data; larger is refused. */
export const payloadBytesMax = 256 * 1024
