import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BatchCopy } from '../../src/api/orders/batchCopy.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { Differences } from '../../src/execution/context/differences.ts'
import { checkCopies } from '../../src/execution/verify/verifyCopies.ts'
import type { CreateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Batch } from '../../src/protocol/signing/relayRouter.ts'

const addressOf = (digit: string) => `0x${digit.repeat(40)}` as const
const wordOf = (text: string) =>
  `0x${Buffer.from(text.padEnd(32, '\0'), 'latin1').toString('hex')}` as `0x${string}`
const zero = wordOf('')

const order: CreateOrderParams = {
  addresses: {
    receiver: addressOf('a'),
    cancellationReceiver: addressOf('a'),
    callbackContract: addressOf('0'),
    uiFeeReceiver: addressOf('0'),
    market: addressOf('b'),
    initialCollateralToken: addressOf('c'),
    swapPath: [addressOf('b'), addressOf('d')],
  },
  numbers: {
    sizeDeltaUsd: 10n ** 31n,
    initialCollateralDeltaAmount: 5_000_000n,
    triggerPrice: 0n,
    acceptablePrice: 10n ** 16n,
    executionFee: 10n ** 14n,
    callbackGasLimit: 0n,
    minOutputAmount: 0n,
    validFromTime: 0n,
  },
  orderType: 2n,
  decreasePositionSwapType: 0n,
  isLong: true,
  shouldUnwrapNativeToken: false,
  autoCancel: false,
  referralCode: zero,
  dataList: [wordOf('gmxo:1:0:0:01:0:1')],
}

/** A value that stands in the place of another: equal in another form, or different. */
const stranger = fc.constantFrom<unknown>(
  addressOf('A'),
  addressOf('e'),
  wordOf('gmxo:1:0:0:01:0:0'),
  wordOf('gmxo:1:0:0:01:1:1'),
  0n,
  0,
  7n,
  false,
  true,
  '0',
  'true',
  [],
  undefined,
  [addressOf('B'), addressOf('d')],
  {},
)
const places = [
  ...Object.keys(order.addresses).map((name) => ['addresses', name]),
  ...Object.keys(order.numbers).map((name) => ['numbers', name]),
  ...Object.keys(order).map((name) => [name]),
  ['unlisted'],
]
const changes = fc.array(fc.tuple(fc.constantFrom(...places), stranger), { maxLength: 3 })

function changed(given: CreateOrderParams, made: readonly (readonly [readonly string[], unknown])[]) {
  const copy = structuredClone(given) as unknown as Record<string, unknown>
  for (const [path, value] of made) {
    const [outer = '', inner] = path
    const fields = inner === undefined ? copy : copy[outer]
    const name = inner ?? outer
    if (typeof fields !== 'object' || fields === null) continue
    if (value === undefined) delete (fields as Record<string, unknown>)[name]
    else (fields as Record<string, unknown>)[name] = value
  }
  return copy as unknown as CreateOrderParams
}

/** The plain walk: every field of both, each compared as text, each with its place. */
function plainWalk(differences: Differences, at: string, meant: unknown, found: unknown): void {
  const isLeaf = (value: unknown) => typeof value !== 'object' || value === null
  if (isLeaf(meant) || isLeaf(found)) {
    differences.hex(at, withoutFlag(String(meant)), withoutFlag(String(found)))
    return
  }
  const [one, other] = [meant, found] as Record<string, unknown>[]
  for (const name of new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])) {
    const [here, there] = [one?.[name], other?.[name]]
    if (name === 'dataList' && Array.isArray(there) && there.length === 0) continue
    const isHere = (value: unknown) => (value === undefined ? 'absent' : 'present')
    if (here === undefined || there === undefined)
      differences.add(`${at}.${name}`, isHere(here), isHere(there))
    else plainWalk(differences, `${at}.${name}`, here, there)
  }
}

function withoutFlag(word: string): string {
  const text = Buffer.from(word.slice(2), 'hex').toString('latin1').replace(/\0+$/, '')
  if (word.length !== 66 || !/^gmxo:1:\d{1,2}:[0-9a-f]{1,4}:\d{2}:[01]:[01]$/i.test(text)) return word
  return wordOf(`${text.slice(0, -1)}0`)
}

describe('the copy of a message', () => {
  it('is compared as a plain walk over all fields compares it, with as many fields and the same differences', () => {
    fc.assert(
      fc.property(changes, changes, (inMessage, inCopy) => {
        const meant = changed(order, inMessage)
        const found = changed(order, inCopy)
        const batch = {
          createOrderParamsList: [meant],
          updateOrderParamsList: [],
          cancelOrderKeys: [],
        } as unknown as Batch
        const copy: BatchCopy = {
          createOrderParamsList: [found],
          updateOrderParamsList: [],
          cancelOrderKeys: [],
        }
        const fast = new Differences()
        checkCopies(fast, arbitrum, {} as Intent, batch, copy)
        const plain = new Differences()
        plainWalk(plain, 'payload.batchParams.createOrderParams[0]', meant, found)
        expect(fast.list).toEqual(plain.list)
        // The three lengths of the lists besides.
        expect(fast.compared).toBe(plain.compared + 3)
      }),
      { seed: 36, numRuns: 2_000 },
    )
  })
})
