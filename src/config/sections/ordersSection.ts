/** Settings of orders: how they are followed, and what is signed. */

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
  statusPollMs: setting(ms(50, 60_000), 500, 'First pause between two status questions of one order, ms.'),
  statusPollMaxMs: setting(
    ms(50, 600_000),
    10_000,
    'Longest pause between two status questions of one order, ms; without chain endpoints also between two reads of the list that shows all orders that rest.',
  ),
  restingPollMs: setting(
    ms(1_000, 3_600_000),
    600_000,
    "Pause between two status questions of an order that rests and that the account's list of orders shows, ms; without chain endpoints alone. One that leaves the list, or is changed in it, is asked for at once.",
  ),
  drainSeconds: setting(
    seconds(0, 3_600),
    10,
    'How long a stopping daemon follows its open orders before it leaves them to the next start.',
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
    'From which age a signed message that is seen in no block counts as withheld, seconds: the host that it was handed to is in cooldown until its fate is known or its deadline passed, and a whole close continues with a new order through another host or lane (docs/sending.md, "A message that is withheld"). The message itself is never sent again.',
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
    'Most exposure that the key signs for in signing.exposureWindowSeconds, USD, whatever asks; reductions add none. Changed by a restart alone. 0: three times risk.maxTotalExposureUsd, so that all may be closed and reopened twice in that time.',
  ),
  exposureWindowSeconds: setting(
    seconds(60, 86_400),
    3_600,
    'Time that signing.exposureCapUsd holds for, seconds.',
  ),
  maxExecutionFee: setting(
    native('0.01'),
    '0.01',
    'Highest execution fee of an order that is signed, in whole native tokens. A close waits for nothing but this, so leave a margin for a gas spike: what a keeper does not use comes back.',
  ),
  maxRelayFeeUsd: setting(
    dollars,
    '5',
    "Highest fee through the relay that is signed for each order of a message that adds risk, USD: it holds the execution fee and the relay's gas. What takes risk away may cost more: signing.maxExecutionFee at our own price of the native token, and half as much again for the relay's gas (at 10000 USD an ETH or 200 USD an AVAX until a price was read).",
  ),
  relayFeeUsd: setting(
    dollars,
    '1',
    'Relay fee of a message of our own that no host prepared, for each order that it creates, USD; more where the gas price of a chain endpoint needs it. What the relay does not use comes back as wrapped native token.',
  ),
  priceToleranceBps: setting(
    bps(5_000),
    100,
    "How far the signed acceptable price of what adds risk may lie beyond our own oracle's price and the slippage asked, basis points.",
  ),
  reducingPriceToleranceBps: setting(
    bps(5_000),
    200,
    'The same of what takes risk away; never less than signing.priceToleranceBps. A refused close is worse than a bad price.',
  ),
  maxPriceImpactBps: setting(
    bps(5_000),
    150,
    "How much of our own estimate of an order's price impact its acceptable price may leave on top of the tolerance where it adds risk, basis points; a limit order asks for as much of it. The estimate is made from what the API says of the market, so this is the most that a host wins that lies. 0: none of it.",
  ),
  reducingMaxPriceImpactBps: setting(
    bps(5_000),
    1_000,
    'The same of what takes risk away; never less than signing.maxPriceImpactBps. In a thin market a large position has no smaller impact to leave with.',
  ),
  priceImpactPerDayUsd: setting(
    dollarsOrNone,
    '100',
    "What both together may leave in a day (UTC), of all strategies' orders as they were accepted, USD: half of it is for what takes risk away alone. Past it prices have slippage and tolerance, and only an operator's way out (perpd kill, perpd orders unwind) has the whole width. So it is the most that hosts win in a day that lie about a market's impact. 0: no such limit.",
  ),
  referralCode: setting(
    as.referralCode,
    '',
    'Referral code of the account, as bytes or as its text: sent with every order, and the only one but none that is signed. A code costs nothing and may give a discount. Empty: none.',
  ),
  usualExecutionFee: setting(
    native('0.0003'),
    '0',
    'What an execution fee is taken for until orders of its kind have landed, and the least that it is taken for after, in whole native tokens. 0: 0.0002 on Arbitrum, 0.05 on Avalanche, 0.00002 on MegaETH.',
  ),
  usualRelayFeeUsd: setting(
    dollarsOrNone,
    '0',
    'The same of the whole fee through the relay for each order of a message, USD. 0: 1 on Arbitrum and Avalanche, 0.1 on MegaETH.',
  ),
  feeFactor: setting(
    integer(1, 100),
    5,
    "How many times our own estimate the fees of an order that adds risk may be. With a chain endpoint the estimate is the protocol's formula at the gas price of the moment, and no more than 3 times it is signed. Without one it is what the last 15 orders of its kind cost that landed, the middle one, and no less than the usual fee; what was asked and not shown to be paid counts for twice the usual fee at most. What takes risk away is bounded by the highest fees alone, so that a gas spike holds no close back; so are messages of your own.",
  ),
  warnings: setting(
    as.warningActions,
    ['INSUFFICIENT_LIQUIDITY=shrink', 'TRADING_CAPACITY_UNAVAILABLE=drop'],
    "What the venue's warnings before signing do to an order that adds risk: `sign` it, `shrink` it to the capacity that is read again (increases; dropped where none is left), or `drop` it. `INSUFFICIENT_LIQUIDITY`: a waiting order does not fit now and may never fill whole, so it is made to fit. `TRADING_CAPACITY_UNAVAILABLE`: the venue itself does not know the room, so what was sized on it stands on nothing. A `CODE.REASON`, as `TRADING_CAPACITY_UNAVAILABLE.COLLATERAL_SWAP=sign`, goes before its code. A code that is not listed drops. A strategy file may be stricter (`warnings`).",
  ),
  warningsDropReductions: setting(
    as.warningCodes,
    [],
    'Codes for which a decrease or a payment of collateral into a position is dropped too. None by default: less risk is never worse than what is warned of. Closes and cancels are signed whatever stands here, and a kill with them.',
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
  const dayLimit: { readonly priceImpactPerDayUsd?: Usd } =
    priceImpactPerDayUsd > 0n ? { priceImpactPerDayUsd } : {}
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
