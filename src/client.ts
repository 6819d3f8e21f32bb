/** `belfry/client`: the verbs of a server over HTTP, with the interface of the library. */
export { BelfryClient, type ClientOptions } from './client/belfry-client.ts'
export { BelfryError, type ErrorCode } from './core/error.ts'
