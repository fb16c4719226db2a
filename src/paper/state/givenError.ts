/** Errors that a fault asks for by name, with arguments of nothing. */
import { ZERO_ADDRESS } from '../../protocol/address.ts'
import { customErrors } from '../blocks/customErrors.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'

/** Tells whether the venue knows a custom error of that name. */
export function isErrorName(name: string): boolean {
  return customErrors.some((error) => error.name === name)
}

/** The custom error of that name, all arguments zero or empty. */
export function givenError(name: string): ProtocolRevert {
  const inputs = customErrors.find((error) => error.name === name)?.inputs ?? []
  return new ProtocolRevert(
    name,
    inputs.map(({ type }) => {
      if (type === 'address') return ZERO_ADDRESS
      if (type === 'bytes') return '0x'
      if (type === 'bytes32') return `0x${'00'.repeat(32)}`
      return type === 'string' ? '' : 0n
    }),
  )
}
