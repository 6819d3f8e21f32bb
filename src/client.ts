/** `belfry/client`: the verbs of a server over HTTP, with the interface of the library. */
export { BelfryClient, type ClientOptions } from './client/belfry-client.ts'
export {
  type ReceivedRequest,
  type Verified,
  type VerifyOptions,
  verifyRequest,
} from './client/verify-request.ts'
export { BelfryError, type ErrorCode } from './core/error.ts'
