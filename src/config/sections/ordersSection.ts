/** Settings of orders: how they are followed, and what is signed. */

import { defined } from '../../base/defined.ts'
import type { WarningPolicy } from '../../domain/order/warning.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import {
  bps,
  dollars,
  dollarsOrNone,
  integer,
  ms,
  native,
  type Section,
  seconds,
  setting,
  type Typed,
} from '../../protocol/settings/setting.ts'
import { maxOf, type Usd } from '../../protocol/units.ts'
import * as as from './formats.ts'

/** Settings under `execution`. */
export const execution = {
  intentExpirySeconds: setting(
    seconds(5, 3_600),
    60,
    'How long after its decision an order may still be prepared and signed.',
  ),
  statusPollMs: setting(ms(50, 60_000), 500, 'First pause between two status requests of one order, ms.'),
  statusPollMaxMs: setting(
    ms(50, 600_000),
    10_000,
    'Longest pause between two status requests of one order, ms; without chain endpoints also between two reads of the list of resting orders.',
  ),
  restingPollMs: setting(
    ms(1_000, 3_600_000),
    600_000,
    "Pause between two status requests of a resting order that the account's list shows, ms; only without chain endpoints. When the order changes or leaves the list, perpd requests its status at once.",
  ),
  drainSeconds: setting(
    seconds(0, 3_600),
    10,
    'How long a stopping daemon follows its open orders; the next start resumes the rest.',
  ),
  deadlineMarginSeconds: setting(
    seconds(1, 600),
    10,
    "How far the host's clock must be past a signed deadline before its statement counts.",
  ),
  relayDeadlineSeconds: setting(
    seconds(90, 180),
    120,
    'Deadline that is signed in the relay lane, seconds from then.',
  ),
  withheldSeconds: setting(
    seconds(5, 600),
    15,
    'Age from which a signed message in no block counts as withheld, seconds (docs/sending.md, "A message that is withheld"). Its host stays in cooldown until the fate is known or the deadline passed. A whole close continues with a new order through another host or lane. The message itself is never sent again.',
  ),
} satisfies Section

/** Settings under `signing`. */
export const signing = {
  maxDeadlineSeconds: setting(
    seconds(30, 86_400),
    3_700,
    'Farthest deadline that is signed, seconds from now.',
  ),
  minDeadlineSeconds: setting(seconds(1, 3_600), 20, 'Nearest deadline that is signed, seconds from now.'),
  exposureCapUsd: setting(
    dollarsOrNone,
    '0',
    'Most exposure that the key signs within signing.exposureWindowSeconds, USD, from all sources; reductions add none. Only a restart changes it. 0: three times risk.maxTotalExposureUsd, which allows closing and reopening everything twice in that time.',
  ),
  exposureWindowSeconds: setting(seconds(60, 86_400), 3_600, 'Window of signing.exposureCapUsd, seconds.'),
  maxExecutionFee: setting(
    native('0.01'),
    '0.01',
    'Highest execution fee of a signed order, in whole native tokens. This limit alone can delay a close, so leave a margin for a gas spike: the keeper returns the unused part.',
  ),
  maxRelayFeeUsd: setting(
    dollars,
    '5',
    "Highest relay fee for each order of a signed message that adds risk, USD; it includes the execution fee and the relay's gas. An order that reduces risk may cost more: signing.maxExecutionFee at our own price of the native token, and half as much again for the relay's gas (at 10000 USD an ETH or 200 USD an AVAX until a price was read).",
  ),
  relayFeeUsd: setting(
    dollars,
    '1',
    'Relay fee of a message that perpd builds itself, for each order that it creates, USD; higher where the gas price of a chain endpoint demands it. The relay returns the unused part as wrapped native token.',
  ),
  priceToleranceBps: setting(
    bps(5_000),
    100,
    "How far the signed acceptable price of an order that adds risk may lie beyond the oracle's price and the requested slippage, basis points.",
  ),
  reducingPriceToleranceBps: setting(
    bps(5_000),
    200,
    'The same for an order that reduces risk; never less than signing.priceToleranceBps. A refused close is worse than a bad price.',
  ),
  maxPriceImpactBps: setting(
    bps(5_000),
    150,
    'How much of our estimate of the price impact is added to the tolerance of the acceptable price of an order that adds risk, basis points; a limit order asks for as much. The estimate uses API data, so this bounds the gain of a host that lies. 0: none.',
  ),
  reducingMaxPriceImpactBps: setting(
    bps(5_000),
    1_000,
    'The same for an order that reduces risk; never less than signing.maxPriceImpactBps. In a thin market a large position cannot close with a smaller impact.',
  ),
  priceImpactPerDayUsd: setting(
    dollarsOrNone,
    '100',
    "Daily (UTC) budget of both impact allowances over all strategies' accepted orders, USD; half of it is reserved for orders that reduce risk. Beyond it prices allow only slippage and tolerance, except for perpd kill and perpd orders unwind. So it bounds the daily gain of hosts that lie about a market's impact. 0: no such limit.",
  ),
  referralCode: setting(
    as.referralCode,
    '',
    'Referral code of the account, as bytes or as text. Every order carries it, and perpd signs no other code. A code costs nothing and may give a discount. Empty: none.',
  ),
  usualExecutionFee: setting(
    native('0.0003'),
    '0',
    'Estimated execution fee until orders of the same kind have landed, and the lowest estimate after that, in whole native tokens. 0: 0.0002 on Arbitrum, 0.05 on Avalanche, 0.00002 on MegaETH.',
  ),
  usualRelayFeeUsd: setting(
    dollarsOrNone,
    '0',
    'The same for the whole relay fee of each order of a message, USD. 0: 1 on Arbitrum and Avalanche, 0.1 on MegaETH.',
  ),
  feeFactor: setting(
    integer(1, 100),
    5,
    "How many times our estimate the fees of an order that adds risk may be. With a chain endpoint the estimate is the protocol's formula at the current gas price, and perpd signs at most 3 times that. Without one it is the median cost of the last 15 landed orders of its kind, and at least the usual fee; a fee that was requested and not shown as paid counts as twice the usual fee at most. Orders that reduce risk, and messages of your own, are bounded by the highest fees alone, so that a gas spike delays no close.",
  ),
  warnings: setting(
    as.warningActions,
    ['INSUFFICIENT_LIQUIDITY=shrink', 'TRADING_CAPACITY_UNAVAILABLE=drop'],
    'Action for an order that adds risk when the venue warns before signing: `sign` it, `shrink` it to the capacity that perpd rereads (increases; dropped where none is left), or `drop` it. `INSUFFICIENT_LIQUIDITY`: the order exceeds the liquidity and may never fill whole, so it shrinks. `TRADING_CAPACITY_UNAVAILABLE`: the venue does not know its capacity, so the size has no basis. A `CODE.REASON`, as `TRADING_CAPACITY_UNAVAILABLE.COLLATERAL_SWAP=sign`, overrides its code. A code that is not listed drops the order. A strategy file may be stricter (`warnings`).',
  ),
  warningsDropReductions: setting(
    as.warningCodes,
    [],
    'Codes that also drop a decrease or a collateral payment into a position. None by default: less risk is never worse than the warning. Closes, cancels and a kill are always signed.',
  ),
} satisfies Section

/** Other settings that a policy of signing depends on. */
interface SigningGround {
  readonly chain: Chain
  readonly maxTotalExposureUsd: Usd
  readonly maxOrderSizeUsd: Usd
}

/**
 * Multiple of the largest exposure of all that may be signed in one window when no cap is set. It is enough to leave everything and build it up again
 * twice. It allows no more than that where something hides the positions.
 */
const CAP_TIMES = 3n

/** Returns the signing settings; widths of reductions are never less than those of orders that add risk. */
export function signingOf(written: Typed<typeof signing>, ground: SigningGround) {
  const { warnings, warningsDropReductions, priceImpactPerDayUsd, ...same } = written
  const { maxTotalExposureUsd, maxOrderSizeUsd, chain } = ground
  // Never less than one order.
  const exposureCapUsd =
    same.exposureCapUsd > 0n ? same.exposureCapUsd : maxOf(CAP_TIMES * maxTotalExposureUsd, maxOrderSizeUsd)
  const policy: WarningPolicy = { adding: warnings, droppingReductions: warningsDropReductions }
  const dayLimit: { readonly priceImpactPerDayUsd?: Usd } = defined({
    priceImpactPerDayUsd: priceImpactPerDayUsd > 0n ? priceImpactPerDayUsd : undefined,
  })
  return {
    ...same,
    exposureCapUsd,
    // 0 is what is usual on the chain.
    usualExecutionFee: same.usualExecutionFee || chain.usualFees.usualExecutionFee,
    usualRelayFeeUsd: same.usualRelayFeeUsd || chain.usualFees.usualRelayFeeUsd,
    reducingPriceToleranceBps: Math.max(same.priceToleranceBps, same.reducingPriceToleranceBps),
    reducingMaxPriceImpactBps: Math.max(same.maxPriceImpactBps, same.reducingMaxPriceImpactBps),
    ...dayLimit,
    warnings: policy,
  }
}
