/** The table of the protocol's errors, and what it makes of bytes. */
import { type Abi, encodeErrorResult, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { expect, test } from 'vitest'
import { customErrors } from '../../src/paper/blocks/customErrors.ts'
import { protocolErrors, reasonOfBytes, reasonText } from '../../src/protocol/protocolErrors.ts'

test('every selector of the table is the one of its declaration', () => {
  const errors = protocolErrors()
  expect(errors.length).toBe(109)
  const wrong = errors.filter(
    ([selector, declaration]) => toFunctionSelector(`function ${declaration}`) !== selector,
  )
  expect(wrong).toEqual([])
})

test('errors of fees and gas that a batch may fail with are decoded', () => {
  const abi = parseAbi([
    'error EmptyRelayFeeAddress()',
    'error InvalidExecutionFee(uint256 executionFee, uint256 minExecutionFee, uint256 maxExecutionFee)',
    'error InsufficientGasLeft(uint256 gas, uint256 estimatedGasLimit)',
  ])
  const reason = (errorName: string, args: readonly unknown[]) =>
    reasonOfBytes(encodeErrorResult<Abi>({ abi, errorName, args }))
  expect(reason('EmptyRelayFeeAddress', [])).toBe('EmptyRelayFeeAddress()')
  expect(reason('InvalidExecutionFee', [9n, 1n, 5n])).toBe('InvalidExecutionFee(9, 1, 5)')
  expect(reason('InsufficientGasLeft', [3n, 4n])).toBe('InsufficientGasLeft(3, 4)')
})

test('every error that the paper venue raises has its row', () => {
  const names = new Set(protocolErrors().map(([, declaration]) => declaration.replace(/\(.*$/, '')))
  expect(customErrors.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([])
})

test('reasons are decoded with their arguments', () => {
  const abi = parseAbi([
    'error OrderNotFulfillableAtAcceptablePrice(uint256,uint256)',
    'error LiquidatablePosition(string,int256,int256,int256)',
    'error EmptyPosition()',
    'error Error(string)',
  ])
  const bytes = (errorName: string, args: readonly unknown[]): Hex =>
    encodeErrorResult<Abi>({ abi, errorName, args })
  expect(reasonOfBytes(bytes('OrderNotFulfillableAtAcceptablePrice', [5n, 7n]))).toBe(
    'OrderNotFulfillableAtAcceptablePrice(5, 7)',
  )
  expect(reasonOfBytes(bytes('LiquidatablePosition', ['min collateral', -3n, 4n, 0n]))).toBe(
    'LiquidatablePosition(min collateral, -3, 4, 0)',
  )
  expect(reasonOfBytes(bytes('EmptyPosition', []))).toBe('EmptyPosition()')
  expect(reasonOfBytes(bytes('Error', ['no']))).toBe('Error(no)')
})

test('what is unknown, cut off or hostile is shown and never guessed', () => {
  expect(reasonOfBytes('0x')).toBe('')
  expect(reasonOfBytes('0x12')).toBe('0x12')
  expect(reasonOfBytes('0xdeadbeef00')).toBe('0xdeadbeef')
  expect(reasonOfBytes('0xe09ad0e900')).toBe('OrderNotFulfillableAtAcceptablePrice')
  const long = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['\u001b[31m'.repeat(500)] })
  const text = reasonOfBytes(long)
  expect(text.length).toBeLessThan(310)
  expect(text).not.toContain('\u001b')
  expect(reasonText('a\nb')).toBe('a b')
})
