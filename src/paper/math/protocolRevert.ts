/** A failure of an operation as the contracts report it: a custom error. The operation leaves no trace. */

/** A protocol custom error by its Solidity name; nothing has changed. Caught by the keeper and the relay only. */
export class ProtocolRevert extends Error {
  /** Solidity name, such as `InsufficientReserve`. */
  readonly errorName: string
  /** Arguments in the order of the error's declaration. */
  readonly args: readonly (bigint | string)[]

  constructor(errorName: string, args: readonly (bigint | string)[] = []) {
    super(`${errorName}(${args.join(', ')})`)
    this.name = 'ProtocolRevert'
    this.errorName = errorName
    this.args = args
  }
}
