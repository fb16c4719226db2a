/** Whom an order pays, what it is on, its type, flags and data, as docs/reference/messages.md says them, in cases. */

import { ZERO_ADDRESS, ZERO_HASH } from '../../../src/protocol/address.ts'
import { stranger, wordOf } from '../../support/honestOrders.ts'
import { account, ethMarket, weth } from '../../support/intents.ts'
import type { Scene } from '../../support/messageScenes.ts'
import {
  addresses,
  asItIs,
  type Changes,
  exactly,
  numbers,
  onlyFlag,
  orderIn,
  type Rule,
  top,
} from '../../support/ruleCases.ts'
import { btcMarket, secondEthMarket } from '../../support/wholeMessage.ts'

const receiver: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'a stranger': addresses(scene, { receiver: stranger }),
    nobody: addresses(scene, { receiver: ZERO_ADDRESS }),
  },
})

const cancellationReceiver: Rule = (scene) => ({
  signed: {
    nobody: addresses(scene, { cancellationReceiver: ZERO_ADDRESS }),
    'the account': addresses(scene, { cancellationReceiver: account }),
  },
  harmful: { 'a stranger': addresses(scene, { cancellationReceiver: stranger }) },
})

const market: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'another listed one': addresses(scene, { market: scene.name === 'swap' ? ethMarket : btcMarket }),
    'a stranger': addresses(scene, { market: stranger }),
    ...(scene.name === 'swap' ? {} : { none: addresses(scene, { market: ZERO_ADDRESS }) }),
  },
})

const collateralToken: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'the other token of the market': addresses(scene, { initialCollateralToken: weth }),
    'a stranger': addresses(scene, { initialCollateralToken: stranger }),
  },
})

const noPath: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    'through its own market': addresses(scene, { swapPath: [ethMarket] }),
    'there and back': addresses(scene, { swapPath: [ethMarket, secondEthMarket] }),
  },
})

const swapPath: Rule = (scene) => {
  const path = (...markets: readonly `0x${string}`[]) => addresses(scene, { swapPath: markets })
  return {
    signed: { ...asItIs, 'another market of the two tokens': path(secondEthMarket) },
    harmful: {
      none: path(),
      'ends in another token': path(btcMarket),
      'ends where it began': path(ethMarket, secondEthMarket),
      'goes through one twice': path(ethMarket, secondEthMarket, ethMarket),
      'is not listed': path(stranger),
      'goes through a market that does not take it': path(ethMarket, btcMarket),
      'is too long': path(ethMarket, secondEthMarket, ethMarket, secondEthMarket),
    },
  }
}

const orderType: Rule = (scene) => {
  const own = orderIn(scene).orderType
  const others = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].filter((each) => each !== own)
  return {
    signed: asItIs,
    harmful: Object.fromEntries(others.map((each) => [`type ${each}`, top(scene, { orderType: each })])),
  }
}

const swapType = (scene: Scene) => (value: bigint) => top(scene, { decreasePositionSwapType: value })
const noSwapType: Rule = (scene) => ({
  signed: asItIs,
  harmful: { one: swapType(scene)(1n), two: swapType(scene)(2n) },
})
const ownTokenSwapType: Rule = (scene) => ({
  signed: { none: swapType(scene)(0n), 'profit to collateral': swapType(scene)(1n) },
  harmful: { 'collateral to the other token': swapType(scene)(2n), 'no such': swapType(scene)(3n) },
})

const isLong: Rule = (scene) => onlyFlag(orderIn(scene).isLong, (value) => top(scene, { isLong: value }))
const unwraps: Rule = (scene) =>
  onlyFlag(orderIn(scene).shouldUnwrapNativeToken, (value) => top(scene, { shouldUnwrapNativeToken: value }))
const noAutoCancel: Rule = (scene) =>
  onlyFlag(orderIn(scene).autoCancel, (value) => top(scene, { autoCancel: value }))
const eitherAutoCancel: Rule = (scene) => ({
  signed: { 'with it': top(scene, { autoCancel: true }), without: top(scene, { autoCancel: false }) },
})

const code = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`
const referralCode: Rule = (scene) => {
  const owners: Changes[string] = (whole) => ({
    ...whole,
    policy: { ...whole.policy, referralCode: code('a') },
  })
  return {
    signed: {
      none: top(scene, { referralCode: ZERO_HASH }),
      "the owner's": (whole) => owners(top(scene, { referralCode: code('a') })(whole)),
      "not the owner's though he has one": owners,
    },
    harmful: {
      "somebody else's": top(scene, { referralCode: code('b') }),
      "somebody else's instead of the owner's": (whole) =>
        owners(top(scene, { referralCode: code('b') })(whole)),
    },
  }
}

const data = (scene: Scene, ...dataList: readonly `0x${string}`[]) => top(scene, { dataList })
const metadata: Rule = (scene) => ({
  signed: {
    nothing: data(scene),
    'the word': data(scene, wordOf()),
    'the word of another source': data(scene, wordOf(0, '0000', '02:1:0')),
  },
  harmful: {
    'a word twice': data(scene, wordOf(), wordOf()),
    'the word of a part': data(scene, wordOf(3, '1a2b')),
    'a twap that it is no part of': data(scene, wordOf(0, '1a2b')),
    'another version': data(
      scene,
      `0x${Buffer.from('gmxo:2:0:0000:01:0:1'.padEnd(32, '\0')).toString('hex')}`,
    ),
    'what nobody understands': data(scene, code('1')),
  },
})
const metadataOfTwap: Rule = (scene) => {
  const all =
    (...dataList: readonly `0x${string}`[]): Changes[string] =>
    (whole) => ({ ...whole, orders: whole.orders.map((each) => ({ ...each, dataList })) })
  const { parts } = scene.facts
  return {
    signed: { 'nothing in all': all(), 'another id in all': all(wordOf(parts, 'beef')) },
    harmful: {
      'nothing in one': data(scene),
      'another id in one': data(scene, wordOf(parts, 'beef')),
      'another number of parts': data(scene, wordOf(parts + 1, '1a2b')),
      'the word of an order that is no part': all(wordOf()),
      'a word twice': all(wordOf(parts, '1a2b'), wordOf(parts, '1a2b')),
    },
  }
}
const metadataOfOwn: Rule = (scene) => ({
  signed: asItIs,
  harmful: {
    nothing: data(scene),
    'another word of the venue': data(scene, wordOf(0, '0000', '02:1:0')),
    'what nobody understands': data(scene, code('1')),
  },
})

/** By field and by the orders that a row names. */
export const placeRules: Readonly<Record<string, Rule>> = {
  'addresses.receiver | every order': receiver,
  'addresses.cancellationReceiver | every order': cancellationReceiver,
  'addresses.callbackContract | every order': (scene) => ({
    signed: asItIs,
    harmful: {
      'a stranger': addresses(scene, { callbackContract: stranger }),
      'the account': addresses(scene, { callbackContract: account }),
    },
  }),
  'numbers.callbackGasLimit | every order': (scene) =>
    exactly(0n, (value) => numbers(scene, { callbackGasLimit: value })),
  'addresses.uiFeeReceiver | every order': (scene) => ({
    signed: asItIs,
    harmful: {
      'a stranger': addresses(scene, { uiFeeReceiver: stranger }),
      'the account': addresses(scene, { uiFeeReceiver: account }),
    },
  }),
  'addresses.market | every order': market,
  'addresses.initialCollateralToken | every order': collateralToken,
  'addresses.swapPath | every order but swap': noPath,
  'addresses.swapPath | swap': swapPath,
  'orderType | every order': orderType,
  'decreasePositionSwapType | increases, collateral-in, swap': noSwapType,
  'decreasePositionSwapType | reductions, exits, collateral-out': ownTokenSwapType,
  'decreasePositionSwapType | own order': noSwapType,
  'isLong | every order': isLong,
  'shouldUnwrapNativeToken | every order but swap': unwraps,
  'shouldUnwrapNativeToken | swap': unwraps,
  'autoCancel | take-profit, stop-loss, take-profit exit, stop-loss exit': eitherAutoCancel,
  'autoCancel | increases, market decrease, kept-leverage decrease, close, twap decrease, collateral-in, collateral-out, swap':
    noAutoCancel,
  'autoCancel | own order': noAutoCancel,
  'referralCode | every order': referralCode,
  'dataList | every order but twap increase, twap decrease, own order': metadata,
  'dataList | twap increase, twap decrease': metadataOfTwap,
  'dataList | own order': metadataOfOwn,
}
